package common

import (
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// pump plays the controller with one handler, h1, that is called in step with it. Its operations are
// those of the shared informer, but for those about handlers.
type pump struct {
	perKey     bool
	resync     time.Duration
	source     *source
	handler    *handler
	store      cache.Indexer
	controller cache.Controller
	stop       chan struct{}
	done       chan struct{}
	stopped    bool
}

// NewPump is for a queue in order, or one that promises the order per key alone.
func NewPump(perKey bool) func() Script {
	return func() Script {
		return &pump{perKey: perKey, source: newSource()}
	}
}

func (p *pump) build(resyncs bool) {
	if p.controller != nil {
		return
	}
	if p.perKey && !resyncs {
		p.resync = longest
	}
	p.handler = newHandler("h1", resyncs)
	watcher := &cache.ListWatch{ListFunc: p.source.list, WatchFunc: p.source.watch}
	indexers := cache.Indexers{"first": Indexer("first")}
	p.store, p.controller = cache.NewIndexerInformer(
		watcher, &corev1.ConfigMap{}, p.resync, p.handler.functions(), indexers)
}

func (p *pump) Play(op Op, say func(string, ...any)) {
	if op.Verb == "new" {
		p.resync = Milliseconds(op.Arg(0))
	}
	p.build(op.Verb == "new")
	switch op.Verb {
	case "new":
	case "start":
		p.start()
	case "stop":
		p.end()
	case "index":
		if p.store.AddIndexers(cache.Indexers{op.Arg(0): Indexer(op.Arg(0))}) != nil {
			say("there is an index %s", op.Arg(0))
		}
	default:
		p.source.play(op)
	}
	time.Sleep(time.Millisecond)
	synctest.Wait()
	for _, line := range p.handler.take(p.perKey) {
		say("h1 %s", line)
	}
}

func (p *pump) start() {
	if p.stop != nil {
		return
	}
	p.stop, p.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.done)
		p.controller.Run(p.stop)
	}()
}

func (p *pump) end() {
	if p.stop == nil || p.stopped {
		return
	}
	close(p.stop)
	<-p.done
	p.stopped = true
}

func (p *pump) Look(view *View) {
	if p.controller.HasSynced() {
		view.Put("synced", "yes")
	}
	LookAt(view, p.store)
}

func (p *pump) Close() {
	p.end()
	p.source.fake.Shutdown()
}
