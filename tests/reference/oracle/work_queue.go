package oracle

import (
	"strconv"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"informer.dev/tests/reference/oracle/common"
)

// workQueue plays the rate limited, delaying work queue. After the n-th operation an odd little time
// passes, so that no two delays end at one instant: of those client-go's heap knows no order.
//
//	limiter …         as the limiter's suite has it; before anything else
//	add ITEM
//	after ITEM MS
//	limited ITEM      when the limiter allows it
//	get               says what it is, unless that would wait
//	done ITEM         does nothing where the item is not in work
//	forget ITEM
//	wait MS
//	shutdown
//	drain             shuts down, and waits for what is in work
type workQueue struct {
	limiter workqueue.TypedRateLimiter[string]
	queue   workqueue.TypedRateLimitingInterface[string]
	items   map[string]bool
	running map[string]bool
	drained chan struct{}
	n       time.Duration
}

func newWorkQueue() common.Script {
	return &workQueue{
		limiter: workqueue.DefaultTypedItemBasedRateLimiter[string](),
		items:   map[string]bool{},
		running: map[string]bool{},
	}
}

func (w *workQueue) Play(op common.Op, say func(string, ...any)) {
	if op.Verb == "limiter" {
		w.limiter = limiterOf(op.Rest)
	}
	if w.queue == nil {
		w.queue = workqueue.NewTypedRateLimitingQueue(w.limiter)
	}
	item := op.Arg(0)
	switch op.Verb {
	case "limiter":
	case "add":
		w.queue.Add(item)
	case "after":
		w.queue.AddAfter(item, common.Milliseconds(op.Arg(1)))
	case "limited":
		w.items[item] = true
		w.queue.AddRateLimited(item)
	case "get":
		w.get(say)
	case "done":
		if !w.running[item] {
			say("not in work")
			break
		}
		delete(w.running, item)
		w.queue.Done(item)
	case "forget":
		w.queue.Forget(item)
	case "wait":
		time.Sleep(common.Milliseconds(item))
	case "shutdown":
		w.queue.ShutDown()
	case "drain":
		w.drain()
	default:
		panic("no operation " + op.Verb)
	}
	synctest.Wait()
	w.n++
	time.Sleep(w.n*104_729 + 7)
	synctest.Wait()
}

func (w *workQueue) get(say func(string, ...any)) {
	if w.queue.Len() == 0 && !w.queue.ShuttingDown() {
		say("nothing")
		return
	}
	item, over := w.queue.Get()
	if over {
		say("over")
		return
	}
	w.running[item] = true
	say("%s, failures %d", item, w.queue.NumRequeues(item))
}

func (w *workQueue) drain() {
	if w.drained != nil {
		return
	}
	w.drained = make(chan struct{})
	go func() {
		defer close(w.drained)
		w.queue.ShutDownWithDrain()
	}()
}

func (w *workQueue) Look(view *common.View) {
	if n := w.queue.Len(); n > 0 {
		view.Put("waiting", strconv.Itoa(n))
	}
	if w.queue.ShuttingDown() {
		view.Put("shutting down", "yes")
	}
	if w.drained != nil {
		select {
		case <-w.drained:
			view.Put("drained", "yes")
		default:
		}
	}
	lookAtFailures(view, w.items, w.queue.NumRequeues)
}

func (w *workQueue) Close() {
	if w.queue != nil {
		w.queue.ShutDown()
	}
}
