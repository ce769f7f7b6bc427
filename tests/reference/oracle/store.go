// Package oracle answers what client-go v0.37 does.
package oracle

import (
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"

	"informer.dev/tests/reference/oracle/common"
)

// store plays an indexer, which begins with the index "first":
//
//	add OBJECT, update OBJECT, delete OBJECT
//	vanish OBJECT|KEY            its end was not seen
//	batch OP; OP; …              one transaction of add, update, delete, and bad: what cannot be stored
//	replace @VERSION OBJECT…
//	bookmark @VERSION
//	index NAME…                  more indices
//	alike NAME OBJECT            the objects that share a value of that index with it
type store struct {
	indexer cache.Indexer
}

func newStore() common.Script {
	indexers := cache.Indexers{"first": common.Indexer("first")}
	return &store{indexer: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers)}
}

func (s *store) Play(op common.Op, say func(string, ...any)) {
	var err error
	switch op.Verb {
	case "add":
		err = s.indexer.Add(common.Parse(op.Arg(0)))
	case "update":
		err = s.indexer.Update(common.Parse(op.Arg(0)))
	case "delete":
		err = s.indexer.Delete(common.Parse(op.Arg(0)))
	case "vanish":
		err = s.indexer.Delete(common.Tombstone(op.Arg(0)))
	case "batch":
		s.transaction(common.Parts(op.Rest), say)
	case "replace":
		err = s.indexer.Replace(common.ParseAll(op.Args[1:]), version(op.Arg(0)))
	case "bookmark":
		s.indexer.Bookmark(version(op.Arg(0)))
	case "alike":
		objects, failure := s.indexer.Index(op.Arg(0), common.Parse(op.Arg(1)))
		if failure != nil {
			say("no answer")
			return
		}
		found := []string{}
		for _, object := range objects {
			found = append(found, common.Show(object))
		}
		slices.Sort(found)
		say("found %s", strings.Join(found, " "))
	case "index":
		for _, name := range op.Args {
			if s.indexer.AddIndexers(cache.Indexers{name: common.Indexer(name)}) != nil {
				say("there is an index %s", name)
			}
		}
	default:
		panic("no operation " + op.Verb)
	}
	if err != nil {
		say("refused")
	}
}

func (s *store) transaction(parts []common.Op, say func(string, ...any)) {
	kinds := map[string]cache.TransactionType{
		"add":    cache.TransactionTypeAdd,
		"update": cache.TransactionTypeUpdate,
		"delete": cache.TransactionTypeDelete,
	}
	var transactions []cache.Transaction
	for _, part := range parts {
		if kind, known := kinds[part.Verb]; known {
			transactions = append(transactions, cache.Transaction{Type: kind, Object: common.Parse(part.Arg(0))})
		} else {
			// No metadata, so no key.
			transactions = append(transactions, cache.Transaction{Type: cache.TransactionTypeAdd, Object: struct{}{}})
		}
	}
	failed := s.indexer.(cache.TransactionStore).Transaction(transactions...)
	if failed != nil {
		say("%d of %d applied, %d errors", len(failed.SuccessfulIndices), failed.TotalTransactions, len(failed.Errors))
	}
}

func (s *store) Look(view *common.View) {
	common.LookAt(view, s.indexer)
}

func (s *store) Close() {}

func version(text string) string {
	return strings.TrimPrefix(text, "@")
}
