package oracle

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"k8s.io/client-go/tools/cache"

	"informer.dev/tests/reference/oracle/common"
)

// realFIFO plays the queue in order, with atomic events, unlocked while its consumer works:
//
//	size N                  at most N deltas in a batch, and twice as many wait before the source must
//	add OBJECT, update OBJECT, delete OBJECT
//	vanish OBJECT|KEY       its end was not seen
//	replace @VERSION OBJECT…
//	resync
//	bookmark @VERSION
//	pop [one]               a batch, or one delta
//	pop [one] while OP; …   the same, and meanwhile the source pushes, if it need not wait
//	pop fail                a batch that the consumer cannot process
type realFIFO struct {
	fifo *cache.RealFIFO
}

// errFailed is what a consumer returns that cannot go on. An informer's loop drops it, too.
var errFailed = errors.New("failed")

func newRealFIFO() common.Script {
	return &realFIFO{fifo: cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		AtomicEvents:          true,
		UnlockWhileProcessing: true,
		EmitDeltaTypeBookmark: true,
	})}
}

func (r *realFIFO) Play(op common.Op, say func(string, ...any)) {
	switch op.Verb {
	case "size":
		size, err := strconv.Atoi(op.Arg(0))
		if err != nil {
			panic(err)
		}
		*(*int)(r.field("batchSize")) = size
	case "pop":
		how, meanwhile, _ := strings.Cut(op.Rest, "while")
		if r.items().Len() == 0 {
			say("empty")
			return
		}
		r.pop(strings.TrimSpace(how), common.Parts(meanwhile), say)
	default:
		if err := r.push(op); err != nil {
			say("refused: %v", err)
		}
	}
}

func (r *realFIFO) push(op common.Op) error {
	switch op.Verb {
	case "add":
		return r.fifo.Add(common.Parse(op.Arg(0)))
	case "update":
		return r.fifo.Update(common.Parse(op.Arg(0)))
	case "delete":
		return r.fifo.Delete(common.Parse(op.Arg(0)))
	case "vanish":
		return r.fifo.Delete(common.Tombstone(op.Arg(0)))
	case "replace":
		return r.fifo.Replace(common.ParseAll(op.Args[1:]), version(op.Arg(0)))
	case "resync":
		return r.fifo.Resync()
	case "bookmark":
		return r.fifo.Bookmark(version(op.Arg(0)))
	default:
		panic("no operation " + op.Verb)
	}
}

func (r *realFIFO) pop(how string, meanwhile []common.Op, say func(string, ...any)) {
	process := func(deltas []cache.Delta, initial bool) error {
		when := "later"
		if initial {
			when = "initial"
		}
		say("%s", when)
		for _, delta := range deltas {
			say("%s", show(delta))
		}
		// A push would wait for the lock, and this is the only goroutine.
		lock := (*sync.RWMutex)(r.field("lock"))
		if !lock.TryLock() {
			say("no room")
			return nil
		}
		lock.Unlock()
		for _, op := range meanwhile {
			if err := r.push(op); err != nil {
				say("refused: %v", err)
			}
		}
		if r.fifo.HasSynced() {
			say("synced meanwhile")
		}
		if how == "fail" {
			return errFailed
		}
		return nil
	}
	single := func(object any, initial bool) error {
		return process(object.(cache.Deltas), initial)
	}
	var err error
	if how == "one" {
		_, err = r.fifo.Pop(single)
	} else {
		err = r.fifo.PopBatch(process, single)
	}
	if err != nil && !errors.Is(err, errFailed) {
		say("refused: %v", err)
	}
}

func (r *realFIFO) items() reflect.Value {
	return reflect.ValueOf(r.fifo).Elem().FieldByName("items")
}

// field is where a private field of the queue lies.
func (r *realFIFO) field(name string) unsafe.Pointer {
	return field(r.fifo, name)
}

// field is where a private field lies.
func field(of any, name string) unsafe.Pointer {
	return reflect.ValueOf(of).Elem().FieldByName(name).Addr().UnsafePointer()
}

func show(delta cache.Delta) string {
	switch object := delta.Object.(type) {
	case cache.DeletedFinalStateUnknown:
		return "vanished " + object.Key + " " + common.Show(object.Obj)
	case cache.ReplacedAllInfo:
		return strings.TrimSpace("replace @" + object.ResourceVersion + " " + common.ShowAll(object.Objects))
	case cache.SyncAllInfo:
		return "resync"
	case cache.BookmarkInfo:
		return "bookmark @" + object.ResourceVersion
	default:
		return strings.ToLower(string(delta.Type)) + " " + common.Show(object)
	}
}

func (r *realFIFO) Look(view *common.View) {
	if r.fifo.HasSynced() {
		view.Put("synced", "yes")
	}
	if waiting := r.items().Len(); waiting > 0 {
		view.Put("waiting", strconv.Itoa(waiting))
	}
}

func (r *realFIFO) Close() {}
