package common

import (
	"slices"
	"strings"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
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

// longest stands for no period. Without one v0.30 waits on a channel that is older than the bubble, so
// that time never moves on. Nobody waits so long.
const longest = 100_000 * time.Hour

// NewInformer is for a queue in order, or one that promises the order per key alone.
func NewInformer(perKey bool) func() Script {
	return func() Script {
		return &informer{
			perKey:   perKey,
			source:   newSource(),
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
		i.resync = longest
	}
	i.shared = cache.NewSharedIndexInformer(watcher, &corev1.ConfigMap{}, i.resync, indexers)
}

func (i *informer) Play(op Op, say func(string, ...any)) {
	if op.Verb == "new" {
		i.resyncs, i.resync = true, Milliseconds(op.Arg(0))
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
	case "index":
		if i.shared.AddIndexers(cache.Indexers{op.Arg(0): Indexer(op.Arg(0))}) != nil {
			say("there is an index %s", op.Arg(0))
		}
	default:
		i.source.play(op)
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
		handler.registration, err = i.shared.AddEventHandlerWithResyncPeriod(functions, Milliseconds(period))
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
