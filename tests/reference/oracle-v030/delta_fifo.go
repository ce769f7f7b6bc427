// Package oracle answers what client-go v0.30 does: the last line whose informers stand on the
// DeltaFIFO, and which puts back what failed.
package oracle

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"informer.dev/tests/reference/oracle/common"
)

// deltaFIFO plays the queue and the consumer that keeps a store by it:
//
//	know OBJECT             the consumer has it, from elsewhere
//	add OBJECT, update OBJECT, delete OBJECT
//	vanish OBJECT|KEY       its end was not seen
//	replace OBJECT…
//	resync
//	pop                     the consumer processes what it is given
//	pop drop                it fails, and gives up
//	pop requeue             it fails, and asks for it again
//	again                   what was popped last is put back, if nothing of it waits
type deltaFIFO struct {
	fifo   *cache.DeltaFIFO
	known  cache.Indexer
	popped cache.Deltas
}

// sorted is a store that lists its keys in order, where a map gives them by chance.
type sorted struct{ cache.Indexer }

func (s sorted) ListKeys() []string {
	keys := s.Indexer.ListKeys()
	slices.SortFunc(keys, compareKeys)
	return keys
}

// compareKeys orders by namespace, then by name.
func compareKeys(left, right string) int {
	parts := func(key string) (string, string) {
		namespace, name, namespaced := strings.Cut(key, "/")
		if !namespaced {
			return "", key
		}
		return namespace, name
	}
	leftNamespace, leftName := parts(left)
	rightNamespace, rightName := parts(right)
	if order := strings.Compare(leftNamespace, rightNamespace); order != 0 {
		return order
	}
	return strings.Compare(leftName, rightName)
}

func newDeltaFIFO() common.Script {
	known := cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{})
	fifo := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KnownObjects:          sorted{known},
		EmitDeltaTypeReplaced: true,
	})
	return &deltaFIFO{fifo: fifo, known: known}
}

func (d *deltaFIFO) Play(op common.Op, say func(string, ...any)) {
	var err error
	switch op.Verb {
	case "know":
		err = d.known.Add(common.Parse(op.Arg(0)))
	case "add":
		err = d.fifo.Add(common.Parse(op.Arg(0)))
	case "update":
		err = d.fifo.Update(common.Parse(op.Arg(0)))
	case "delete":
		err = d.fifo.Delete(common.Parse(op.Arg(0)))
	case "vanish":
		err = d.fifo.Delete(common.Tombstone(op.Arg(0)))
	case "replace":
		err = d.fifo.Replace(common.ParseAll(op.Args), "")
	case "resync":
		err = d.fifo.Resync()
	case "pop":
		d.pop(op.Arg(0), say)
	case "again":
		if len(d.popped) == 0 {
			say("nothing")
		} else {
			err = d.fifo.AddIfNotPresent(d.popped)
			d.popped = nil
		}
	default:
		panic("no operation " + op.Verb)
	}
	if err != nil {
		say("refused: %v", err)
	}
}

func (d *deltaFIFO) pop(how string, say func(string, ...any)) {
	if len(d.fifo.ListKeys()) == 0 {
		say("empty")
		return
	}
	d.popped = nil
	_, err := d.fifo.Pop(func(object any, initial bool) error {
		deltas := object.(cache.Deltas)
		key, err := d.fifo.KeyOf(deltas)
		if err != nil {
			return err
		}
		when := "later"
		if initial {
			when = "initial"
		}
		say("%s %s", key, when)
		for _, delta := range deltas {
			say("%s", show(delta))
		}
		switch how {
		case "requeue":
			return cache.ErrRequeue{Err: errors.New("again")}
		case "drop":
			d.popped = deltas
			return nil
		}
		d.popped = deltas
		return d.process(deltas)
	})
	if err != nil && how != "requeue" {
		say("refused: %v", err)
	}
}

// process is what every consumer of these deltas does.
func (d *deltaFIFO) process(deltas cache.Deltas) error {
	for _, delta := range deltas {
		var err error
		if delta.Type == cache.Deleted {
			err = d.known.Delete(delta.Object)
		} else {
			err = d.known.Update(delta.Object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func show(delta cache.Delta) string {
	if tombstone, ok := delta.Object.(cache.DeletedFinalStateUnknown); ok {
		return "vanished " + tombstone.Key + " " + common.Show(tombstone.Obj)
	}
	return strings.ToLower(string(delta.Type)) + " " + common.Show(delta.Object)
}

func (d *deltaFIFO) Look(view *common.View) {
	if d.fifo.HasSynced() {
		view.Put("synced", "yes")
	}
	keys := d.fifo.ListKeys()
	view.Put("queue", strconv.Itoa(len(keys)))
	for _, key := range keys {
		waiting, _, err := d.fifo.GetByKey(key)
		if err != nil {
			panic(err)
		}
		texts := []string{}
		for _, delta := range waiting.(cache.Deltas) {
			texts = append(texts, show(delta))
		}
		view.Put("waiting "+key, strings.Join(texts, ", "))
	}
	for _, object := range d.known.List() {
		view.Put("known "+common.Key(object.(*corev1.ConfigMap)), common.Show(object))
	}
}

func (d *deltaFIFO) Close() {}
