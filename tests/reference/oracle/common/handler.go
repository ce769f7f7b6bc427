package common

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

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
