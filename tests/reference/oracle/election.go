package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"informer.dev/tests/reference/oracle/common"
)

// election plays one candidate, called me, with the recommended numbers: 15 s, 10 s and 2 s. An attempt is
// said as its requests with their answers; of equal attempts in a row one is said, because chance decides
// how many fit into a time. Nothing but a wait takes time.
//
//	start [release]         the candidate runs; it gives the lease back when it is stopped
//	stop
//	take WHO, renew, free   another holds the lease, renews it, gives it back
//	drop                    there is no lease any more
//	fail CALL…              get, create and update fail from now on
//	heal                    they do not
//	once CALL=ANSWER…       the next one: fail, conflict, or unheard, which is done and fails
//	wait MS
type election struct {
	lease  *lease
	cancel context.CancelFunc
	ended  chan struct{}

	lock    sync.Mutex
	leader  string
	leading bool
}

func newElection() common.Script {
	return &election{lease: &lease{failing: map[string]bool{}, once: map[string]string{}}}
}

func (e *election) Play(op common.Op, say func(string, ...any)) {
	switch op.Verb {
	case "start":
		e.start(op.Arg(0) == "release")
	case "stop":
		if e.cancel != nil {
			e.cancel()
		}
	case "wait":
		e.lease.n++
		time.Sleep(common.Milliseconds(op.Arg(0)) + e.lease.n*104_729 + 7)
	default:
		e.lease.play(op)
	}
	synctest.Wait()
	for _, line := range e.lease.lines() {
		say("%s", line)
	}
	if e.ended != nil {
		select {
		case <-e.ended:
			e.ended, e.cancel = nil, nil
			say("ended")
		default:
		}
	}
}

func (e *election) start(release bool) {
	if e.ended != nil {
		return
	}
	e.lease.version = 0
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            e.lease,
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     2 * time.Second,
		ReleaseOnCancel: release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { e.set(func() { e.leading = true }) },
			OnStoppedLeading: func() { e.set(func() { e.leading = false }) },
			OnNewLeader:      func(leader string) { e.set(func() { e.leader = leader }) },
		},
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	ended := make(chan struct{})
	e.cancel, e.ended, e.leader = cancel, ended, ""
	go func() {
		defer close(ended)
		elector.Run(ctx)
	}()
}

func (e *election) set(change func()) {
	e.lock.Lock()
	defer e.lock.Unlock()
	change()
}

func (e *election) Look(view *common.View) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.leading {
		view.Put("leading", "yes")
	}
	if e.leader != "" {
		view.Put("leader", e.leader)
	}
	e.lease.look(view)
}

func (e *election) Close() {
	if e.ended != nil {
		e.cancel()
		<-e.ended
	}
	synctest.Wait()
}

// lease is the lock, and the server that holds it.
type lease struct {
	lock    sync.Mutex
	now     *resourcelock.LeaderElectionRecord
	stored  int
	version int
	// ticks makes each write of another differ by a second at least: client-go sees no less.
	ticks   time.Duration
	failing map[string]bool
	once    map[string]string
	calls   []string
	at      time.Time
	said    []string
	n       time.Duration
}

func (l *lease) play(op common.Op) {
	l.lock.Lock()
	defer l.lock.Unlock()
	switch op.Verb {
	case "take":
		record := resourcelock.LeaderElectionRecord{HolderIdentity: op.Arg(0), LeaseDurationSeconds: 15}
		if l.now != nil {
			record.LeaderTransitions = l.now.LeaderTransitions + 1
		}
		l.store(record)
	case "renew":
		if l.now != nil {
			l.store(*l.now)
		}
	case "free":
		if l.now != nil {
			record := *l.now
			record.HolderIdentity, record.LeaseDurationSeconds = "", 1
			l.store(record)
		}
	case "drop":
		l.now = nil
	case "fail":
		for _, call := range op.Args {
			l.failing[call] = true
		}
	case "heal":
		l.failing, l.once = map[string]bool{}, map[string]string{}
	case "once":
		for _, arg := range op.Args {
			call, answer, _ := strings.Cut(arg, "=")
			l.once[call] = answer
		}
	default:
		panic("no operation " + op.Verb)
	}
}

func (l *lease) store(record resourcelock.LeaderElectionRecord) {
	l.ticks += time.Second
	record.RenewTime = metav1.NewTime(time.Now().Add(l.ticks))
	l.stored++
	l.now = &record
}

// call says a request and how it is answered.
func (l *lease) call(kind, text string) string {
	answer := "ok"
	if l.failing[kind] {
		answer = "fail"
	}
	if once, found := l.once[kind]; found {
		answer = once
		delete(l.once, kind)
	}
	if !time.Now().Equal(l.at) {
		l.flush()
		l.at = time.Now()
	}
	l.calls = append(l.calls, text)
	return answer
}

func (l *lease) answer(answer string) {
	l.calls[len(l.calls)-1] += " -> " + answer
}

func (l *lease) flush() {
	if len(l.calls) == 0 {
		return
	}
	line := strings.Join(l.calls, "; ")
	l.calls = nil
	before := ""
	if len(l.said) > 0 {
		before = l.said[len(l.said)-1]
	}
	// Whether the last attempt or the deadline comes first is chance: they fall into one moment.
	if rest, found := strings.CutPrefix(line, before+"; "); found && strings.HasPrefix(rest, "get ") {
		line = rest
	}
	if line != before {
		l.said = append(l.said, line)
	}
}

func (l *lease) lines() []string {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.flush()
	return slices.Clone(l.take())
}

func (l *lease) take() []string {
	said := l.said
	l.said = nil
	return said
}

var (
	errFails    = errors.New("fails")
	leases      = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	errNotThere = apierrors.NewNotFound(leases, "lease")
	errConflict = apierrors.NewConflict(leases, "lease", errFails)
)

func (l *lease) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if answer := l.call("get", "get"); answer != "ok" {
		l.answer("fail")
		return nil, nil, errFails
	}
	if l.now == nil {
		l.answer("none")
		return nil, nil, errNotThere
	}
	l.answer(fmt.Sprintf("%s %d", holder(l.now.HolderIdentity), l.now.LeaderTransitions))
	l.version = l.stored
	record := *l.now
	raw, err := json.Marshal(record)
	return &record, raw, err
}

func (l *lease) Create(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write("create", record, func() bool { return l.now == nil })
}

func (l *lease) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write("update", record, func() bool { return l.now != nil && l.version == l.stored })
}

func (l *lease) write(kind string, record resourcelock.LeaderElectionRecord, fits func() bool) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	text := fmt.Sprintf("%s %s %d %ds", kind, holder(record.HolderIdentity), record.LeaderTransitions, record.LeaseDurationSeconds)
	answer := l.call(kind, text)
	if (answer == "ok" || answer == "unheard") && !fits() {
		answer = "conflict"
	}
	l.answer(answer)
	switch answer {
	case "ok":
		l.store(record)
		l.version = l.stored
		return nil
	case "unheard":
		l.store(record)
		return errFails
	case "conflict":
		return errConflict
	default:
		return errFails
	}
}

func (l *lease) RecordEvent(string) {}

func (l *lease) Identity() string { return "me" }

func (l *lease) Describe() string { return "lease" }

func (l *lease) look(view *common.View) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.now != nil {
		view.Put("lease", fmt.Sprintf("%s %d", holder(l.now.HolderIdentity), l.now.LeaderTransitions))
	}
}

func holder(name string) string {
	if name == "" {
		return "nobody"
	}
	return name
}
