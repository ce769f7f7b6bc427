package common

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	framework "k8s.io/client-go/tools/cache/testing"
)

// source is client-go's fake one, which lists by chance and never fails, with an order and failures.
type source struct {
	fake    *framework.FakeControllerSource
	lock    sync.Mutex
	down    bool
	expired bool
}

func newSource() *source {
	return &source{fake: framework.NewFakeControllerSource()}
}

// play does what is about the source, or lets time pass.
func (s *source) play(op Op) {
	switch op.Verb {
	case "cut":
		s.cut()
	case "heal":
		s.heal()
		// Longer than two back-offs can be.
		time.Sleep(200 * time.Second)
	case "wait":
		time.Sleep(Milliseconds(op.Arg(0)))
	case "burst":
		for _, part := range Parts(op.Rest) {
			s.change(part)
		}
	default:
		s.change(op)
	}
}

func (s *source) change(op Op) {
	lost := op.Verb == "lose"
	if lost {
		op = ParseOp(op.Rest)
	}
	object := Parse(op.Arg(0))
	switch {
	case op.Verb == "create" && lost:
		s.fake.AddDropWatch(object)
	case op.Verb == "create":
		s.fake.Add(object)
	case op.Verb == "modify" && lost:
		s.fake.ModifyDropWatch(object)
	case op.Verb == "modify":
		s.fake.Modify(object)
	case op.Verb == "delete" && lost:
		s.fake.DeleteDropWatch(object)
	case op.Verb == "delete":
		s.fake.Delete(object)
	default:
		panic("no operation " + op.Verb)
	}
}

func (s *source) cut() {
	s.lock.Lock()
	s.down = true
	s.lock.Unlock()
	s.fake.ResetWatch()
}

func (s *source) heal() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.down, s.expired = false, true
}

func (s *source) list(options metav1.ListOptions) (runtime.Object, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.down {
		return nil, errors.New("down")
	}
	list, err := s.fake.List(options)
	if err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, func(left, right runtime.Object) int {
		return strings.Compare(Key(left.(*corev1.ConfigMap)), Key(right.(*corev1.ConfigMap)))
	})
	return list, meta.SetList(list, items)
}

func (s *source) watch(options metav1.ListOptions) (watch.Interface, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	switch {
	case options.SendInitialEvents != nil:
		return nil, errors.New("no streaming lists here")
	case s.down:
		return nil, errors.New("down")
	case s.expired:
		s.expired = false
		return nil, apierrors.NewResourceExpired("healed")
	}
	return s.fake.Watch(options)
}

// Milliseconds reads a time.
func Milliseconds(text string) time.Duration {
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return time.Duration(number) * time.Millisecond
}
