package common

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	framework "k8s.io/client-go/tools/cache/testing"
)

// informer plays a shared informer over client-go's fake source. The source gives the versions.
//
//	new MS                    the informer resyncs with that period; must come first
//	transform drop            objects are kept without the value s
//	transform blank           objects are kept without their version
//	start, stop
//	join NAME [MS]            adds a handler, with a resync period of its own
//	filter NAME VALUE         adds a handler that wants the objects with that value
//	leave NAME
//	hold NAME, release NAME   its calls do not return meanwhile, but those that tell nothing new:
//	                          the same state without a resync, the end of what was never told
//	panic NAME KEY            its calls about that key panic
//	create OBJECT, modify OBJECT, delete OBJECT
//	lose OP                   the same, but the watch does not tell
//	burst OP; OP; …           all at once
//	cut                       the watch breaks, its history is gone, and nothing answers
//	heal                      until here; what follows is a list
//	index NAME                one more index
//	wait MS
//
// Between operations a millisecond passes, as nothing else is left to do.
type informer struct {
	perKey   bool
	resyncs  bool
	resync   time.Duration
	source   *source
	shared   cache.SharedIndexInformer
	handlers map[string]*handler
	gone     []*handler
	stop     chan struct{}
	done     chan struct{}
	stopped  bool
}

// NewInformer is for a queue in order, or one that promises the order per key alone.
func NewInformer(perKey bool) func() Script {
	return func() Script {
		return &informer{
			perKey:   perKey,
			source:   &source{fake: framework.NewFakeControllerSource()},
			handlers: map[string]*handler{},
		}
	}
}

func (i *informer) build() {
	if i.shared != nil {
		return
	}
	watcher := &cache.ListWatch{ListFunc: i.source.list, WatchFunc: i.source.watch}
	indexers := cache.Indexers{"first": Indexer("first")}
	if i.perKey && i.resync == 0 {
		// Without a period v0.30 waits on a channel that is older than the bubble, so that time never
		// moves on. Nobody waits so long.
		i.resync = 100_000 * time.Hour
	}
	i.shared = cache.NewSharedIndexInformer(watcher, &corev1.ConfigMap{}, i.resync, indexers)
}

func (i *informer) Play(op Op, say func(string, ...any)) {
	if op.Verb == "new" {
		i.resyncs, i.resync = true, milliseconds(op.Arg(0))
	}
	i.build()
	switch op.Verb {
	case "new":
	case "transform":
		if err := i.shared.SetTransform(transform(op.Arg(0))); err != nil {
			say("refused: %v", err)
		}
	case "start":
		i.start()
	case "stop":
		i.end()
	case "join", "filter":
		i.join(op, say)
	case "leave":
		if handler, joined := i.handlers[op.Arg(0)]; joined {
			if err := i.shared.RemoveEventHandler(handler.registration); err != nil {
				say("refused: %v", err)
			}
			delete(i.handlers, op.Arg(0))
			i.gone = append(i.gone, handler)
		}
	case "hold", "release":
		for _, handler := range i.all() {
			if handler.name == op.Arg(0) {
				handler.hold(op.Verb == "hold")
			}
		}
	case "panic":
		if handler, joined := i.handlers[op.Arg(0)]; joined {
			handler.panics(op.Arg(1))
		}
	case "cut":
		i.source.cut()
	case "heal":
		i.source.heal()
		// Longer than two back-offs can be.
		time.Sleep(200 * time.Second)
	case "index":
		if i.shared.AddIndexers(cache.Indexers{op.Arg(0): Indexer(op.Arg(0))}) != nil {
			say("there is an index %s", op.Arg(0))
		}
	case "wait":
		time.Sleep(milliseconds(op.Arg(0)))
	case "burst":
		for _, part := range Parts(op.Rest) {
			i.source.change(part)
		}
	default:
		i.source.change(op)
	}
	i.settle()
	for _, handler := range i.all() {
		lines := handler.take(i.perKey)
		if _, joined := i.handlers[handler.name]; !joined && len(lines) > 0 {
			// The one call that was held when it left; which one is chance.
			say("%s %d more", handler.name, len(lines))
			continue
		}
		for _, line := range lines {
			say("%s %s", handler.name, line)
		}
	}
}

func transform(how string) cache.TransformFunc {
	return func(object any) (any, error) {
		it, ok := object.(*corev1.ConfigMap)
		if !ok {
			return object, nil
		}
		it = it.DeepCopy()
		if how == "blank" {
			it.ResourceVersion = ""
		} else if values, there := it.Annotations[annotation]; there {
			left := slices.DeleteFunc(strings.Split(values, ","), func(value string) bool { return value == "s" })
			it.Annotations[annotation] = strings.Join(left, ",")
		}
		return it, nil
	}
}

// settle lets everything run that can.
func (i *informer) settle() {
	pause := time.Millisecond
	for _, handler := range i.all() {
		if handler.mayPanic() {
			// client-go waits a second after each panic.
			pause = 30 * time.Second
		}
	}
	time.Sleep(pause)
	synctest.Wait()
}

func (i *informer) start() {
	if i.stop != nil {
		return
	}
	i.stop, i.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(i.done)
		i.shared.Run(i.stop)
	}()
}

func (i *informer) end() {
	if i.stop == nil || i.stopped {
		return
	}
	i.releaseAll()
	close(i.stop)
	<-i.done
	i.stopped = true
}

// releaseAll lets every handler be told all that waits for it.
func (i *informer) releaseAll() {
	for _, handler := range i.all() {
		handler.hold(false)
	}
	i.settle()
}

func (i *informer) join(op Op, say func(string, ...any)) {
	handler := newHandler(op.Arg(0), i.resyncs)
	functions := handler.functions()
	var err error
	if op.Verb == "filter" {
		handler.registration, err = i.shared.AddEventHandler(cache.FilteringResourceEventHandler{
			FilterFunc: func(object any) bool { return hasValue(object, op.Arg(1)) },
			Handler:    functions,
		})
	} else if period := op.Arg(1); period == "" {
		handler.registration, err = i.shared.AddEventHandler(functions)
	} else {
		handler.registration, err = i.shared.AddEventHandlerWithResyncPeriod(functions, milliseconds(period))
	}
	if err != nil {
		say("refused")
		return
	}
	i.handlers[handler.name] = handler
}

func hasValue(object any, value string) bool {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	values := object.(*corev1.ConfigMap).Annotations[annotation]
	return slices.Contains(strings.Split(values, ","), value)
}

// all are the handlers by name, and those that left.
func (i *informer) all() []*handler {
	all := slices.Clone(i.gone)
	for _, handler := range i.handlers {
		all = append(all, handler)
	}
	slices.SortFunc(all, func(left, right *handler) int { return strings.Compare(left.name, right.name) })
	return all
}

func (i *informer) Look(view *View) {
	if i.shared.HasSynced() {
		view.Put("synced", "yes")
	}
	if i.shared.IsStopped() {
		view.Put("stopped", "yes")
	}
	for name, handler := range i.handlers {
		if handler.registration.HasSynced() {
			view.Put("synced "+name, "yes")
		}
	}
	LookAt(view, i.shared.GetIndexer())
}

func (i *informer) Close() {
	i.releaseAll()
	i.end()
	i.source.fake.Shutdown()
}

func milliseconds(text string) time.Duration {
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return time.Duration(number) * time.Millisecond
}

// source is client-go's fake one, which lists by chance and never fails, with an order and failures.
type source struct {
	fake    *framework.FakeControllerSource
	lock    sync.Mutex
	down    bool
	expired bool
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

// handler writes down what it is told.
type handler struct {
	name         string
	resyncs      bool
	registration cache.ResourceEventHandlerRegistration
	lock         sync.Mutex
	lines        []string
	held         chan struct{}
	bad          map[string]bool
	known        map[string]bool
}

func newHandler(name string, resyncs bool) *handler {
	return &handler{name: name, resyncs: resyncs, bad: map[string]bool{}, known: map[string]bool{}}
}

func (h *handler) functions() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			suffix := ""
			if initial {
				suffix = " initial"
			}
			h.told(object, true, true, "add %s%s", Show(object), suffix)
		},
		UpdateFunc: func(before, after any) {
			if Show(before) == Show(after) {
				h.told(after, h.resyncs, true, "again %s", Show(after))
			} else {
				h.told(after, true, true, "update %s -> %s", Show(before), Show(after))
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				h.told(tombstone.Obj, true, false, "vanished %s", Show(tombstone.Obj))
			} else {
				h.told(object, h.knows(object), false, "delete %s", Show(object))
			}
		},
	}
}

func (h *handler) knows(object any) bool {
	h.lock.Lock()
	defer h.lock.Unlock()
	return h.known[Key(object.(*corev1.ConfigMap))]
}

// told is a call. It begins when nobody holds it any more: a handler that is held in the middle of
// what comes in the order of a map would be held at another line each time.
func (h *handler) told(object any, isNew, exists bool, format string, arguments ...any) {
	h.lock.Lock()
	held := h.held
	h.lock.Unlock()
	if held != nil && isNew {
		<-held
	}
	h.lock.Lock()
	line := fmt.Sprintf(format, arguments...)
	key := Key(object.(*corev1.ConfigMap))
	h.known[key] = exists
	bad := h.bad[key]
	if bad {
		line += " panics"
	}
	h.lines = append(h.lines, line)
	h.lock.Unlock()
	if bad {
		panic("asked to")
	}
}

func (h *handler) hold(hold bool) {
	h.lock.Lock()
	defer h.lock.Unlock()
	switch {
	case hold && h.held == nil:
		h.held = make(chan struct{})
	case !hold && h.held != nil:
		close(h.held)
		h.held = nil
	}
}

func (h *handler) panics(key string) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.bad[key] = true
}

func (h *handler) mayPanic() bool {
	h.lock.Lock()
	defer h.lock.Unlock()
	return len(h.bad) > 0
}

// take returns the new lines. What comes in the order of a map is put into order.
func (h *handler) take(perKey bool) []string {
	h.lock.Lock()
	defer h.lock.Unlock()
	lines := h.lines
	h.lines = nil
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && byChance(lines[from]) != "" && byChance(lines[from]) == byChance(lines[to]) {
			to++
		}
		slices.Sort(lines[from:to])
		from = to
	}
	if perKey {
		slices.SortStableFunc(lines, func(left, right string) int {
			return strings.Compare(keyOf(left), keyOf(right))
		})
	}
	return lines
}

// byChance names the sort of line whose order among its like is not promised.
func byChance(line string) string {
	word, _, _ := strings.Cut(line, " ")
	switch {
	case word == "vanished" || word == "again":
		return word
	case word == "add" && strings.Contains(line, " initial"):
		return "initial"
	default:
		return ""
	}
}

func keyOf(line string) string {
	_, rest, _ := strings.Cut(line, " ")
	key, _, _ := strings.Cut(rest, "@")
	return key
}
