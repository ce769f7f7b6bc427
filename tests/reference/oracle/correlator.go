package oracle

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"

	"informer.dev/tests/reference/oracle/common"
)

// correlator plays the correlator of events: aggregator, counter and spam filter.
//
//	new MAX WITHIN BURST REFILL MEMORY    before anything else: so many different events of a reason are
//	                                      combined; as long as no pause is longer, in seconds; so many
//	                                      pass the filter at once, and one more each so many seconds; so
//	                                      many keys are remembered
//	event SOURCE/HOST OBJECT TYPE REASON NOTE
//	                                      says whether it is created, patched or skipped, how often it
//	                                      was seen, the name under which it is kept unless it was
//	                                      combined, and its note
//	wait MS
type correlator struct {
	correlator *record.EventCorrelator
	n          int
}

func newCorrelator() common.Script {
	return &correlator{correlator: record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{})}
}

func (c *correlator) Play(op common.Op, say func(string, ...any)) {
	switch op.Verb {
	case "new":
		c.correlator = record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{
			MaxEvents:            number(op.Arg(0)),
			MaxIntervalInSeconds: number(op.Arg(1)),
			BurstSize:            number(op.Arg(2)),
			QPS:                  1 / float32(number(op.Arg(3))),
			LRUCacheSize:         number(op.Arg(4)),
		})
	case "event":
		c.event(op, say)
	case "wait":
		time.Sleep(common.Milliseconds(op.Arg(0)))
	default:
		panic("no operation " + op.Verb)
	}
}

func (c *correlator) event(op common.Op, say func(string, ...any)) {
	c.n++
	component, host, _ := strings.Cut(op.Arg(0), "/")
	now := metav1.Now()
	result, err := c.correlator.EventCorrelate(&corev1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("e%d", c.n)},
		InvolvedObject:      corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: op.Arg(1)},
		Source:              corev1.EventSource{Component: component, Host: host},
		ReportingController: component,
		ReportingInstance:   host,
		Type:                op.Arg(2),
		Reason:              op.Arg(3),
		Message:             op.Arg(4),
		FirstTimestamp:      now,
		LastTimestamp:       now,
		Count:               1,
	})
	if err != nil {
		say("refused: %v", err)
		return
	}
	if result.Skip {
		say("skip")
		return
	}
	verb, name := "create", result.Event.Name
	if result.Patch != nil {
		verb = "patch"
	}
	if strings.HasPrefix(result.Event.Message, "(combined") {
		name = "-"
	}
	say("%s %d %s %s", verb, result.Event.Count, name, result.Event.Message)
}

func (c *correlator) Look(*common.View) {}

func (c *correlator) Close() {}
