package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"informer.dev/tests/reference/oracle/common"
)

// series plays the broadcaster of events.k8s.io/v1: what is written of events that happen again. The writes
// of an operation are said in the order of their text, as a map decides about that of several.
//
//	event OBJECT REASON ACTION NOTE
//	refuse N                 the next N writes get no answer
//	wait MS
type series struct {
	broadcaster events.EventBroadcaster
	recorder    events.EventRecorder
	cancel      context.CancelFunc

	lock    sync.Mutex
	refused int
	said    []string
}

func newSeries() common.Script {
	s := &series{}
	s.broadcaster = events.NewBroadcaster(s)
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	s.cancel = cancel
	if err := s.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		panic(err)
	}
	s.recorder = s.broadcaster.NewRecorder(scheme, "controller")
	return s
}

func (s *series) Play(op common.Op, say func(string, ...any)) {
	switch op.Verb {
	case "event":
		pod := &corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: op.Arg(0)},
		}
		s.recorder.Eventf(pod, nil, corev1.EventTypeNormal, op.Arg(1), op.Arg(2), "%s", op.Arg(3))
	case "refuse":
		s.lock.Lock()
		s.refused = number(op.Arg(0))
		s.lock.Unlock()
	case "wait":
		time.Sleep(common.Milliseconds(op.Arg(0)))
	default:
		panic("no operation " + op.Verb)
	}
	synctest.Wait()
	time.Sleep(time.Millisecond)
	synctest.Wait()
	s.lock.Lock()
	defer s.lock.Unlock()
	slices.Sort(s.said)
	for _, line := range s.said {
		say("%s", line)
	}
	s.said = nil
}

var errRefused = errors.New("no answer")

func (s *series) write(verb string, event *eventsv1.Event) (*eventsv1.Event, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	count := int32(1)
	if event.Series != nil {
		count = event.Series.Count
	}
	line := fmt.Sprintf("%s %s %s %s %d", verb, event.Regarding.Name, event.Reason, event.Action, count)
	if s.refused > 0 {
		s.refused--
		s.said = append(s.said, line+" refused")
		return nil, errRefused
	}
	s.said = append(s.said, line)
	return event, nil
}

func (s *series) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return s.write("create", event)
}

func (s *series) Update(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return s.write("update", event)
}

func (s *series) Patch(_ context.Context, event *eventsv1.Event, _ []byte) (*eventsv1.Event, error) {
	return s.write("patch", event)
}

func (s *series) Look(*common.View) {}

func (s *series) Close() {
	s.cancel()
	s.broadcaster.Shutdown()
	synctest.Wait()
}
