package oracle

import (
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"informer.dev/tests/reference/oracle/common"
)

// limiter plays a rate limiter:
//
//	limiter KIND … [| KIND …] [| cap MS]    what it is made of; of several the longest delay counts
//	    exp BASE MAX                        ItemExponentialFailure, in milliseconds
//	    fastslow FAST SLOW N                ItemFastSlow, in milliseconds
//	    bucket RATE BURST                   Bucket, RATE a second
//	when ITEM                               says the delay in microseconds
//	forget ITEM
//	wait MS
type limiter struct {
	limiter workqueue.TypedRateLimiter[string]
	items   map[string]bool
}

func newLimiter() common.Script {
	return &limiter{limiter: workqueue.DefaultTypedControllerRateLimiter[string](), items: map[string]bool{}}
}

func (l *limiter) Play(op common.Op, say func(string, ...any)) {
	switch op.Verb {
	case "limiter":
		l.limiter = limiterOf(op.Rest)
	case "when":
		l.items[op.Arg(0)] = true
		delay := l.limiter.When(op.Arg(0))
		if delay == math.MaxInt64 {
			say("never")
			return
		}
		say("%d", delay.Round(time.Microsecond).Microseconds())
	case "forget":
		l.limiter.Forget(op.Arg(0))
	case "wait":
		time.Sleep(common.Milliseconds(op.Arg(0)))
	default:
		panic("no operation " + op.Verb)
	}
}

func (l *limiter) Look(view *common.View) {
	lookAtFailures(view, l.items, l.limiter.NumRequeues)
}

func (l *limiter) Close() {}

func lookAtFailures(view *common.View, items map[string]bool, failures func(string) int) {
	for item := range items {
		if n := failures(item); n > 0 {
			view.Put("failures "+item, strconv.Itoa(n))
		}
	}
}

func limiterOf(text string) workqueue.TypedRateLimiter[string] {
	var limiters []workqueue.TypedRateLimiter[string]
	var limit *time.Duration
	for _, part := range strings.Split(text, "|") {
		op := common.ParseOp(part)
		first := common.Milliseconds(op.Arg(0))
		switch op.Verb {
		case "exp":
			limiters = append(limiters, workqueue.NewTypedItemExponentialFailureRateLimiter[string](
				first, common.Milliseconds(op.Arg(1))))
		case "fastslow":
			limiters = append(limiters, workqueue.NewTypedItemFastSlowRateLimiter[string](
				first, common.Milliseconds(op.Arg(1)), number(op.Arg(2))))
		case "bucket":
			limiters = append(limiters, &workqueue.TypedBucketRateLimiter[string]{
				Limiter: rate.NewLimiter(rate.Limit(number(op.Arg(0))), number(op.Arg(1))),
			})
		case "cap":
			limit = &first
		default:
			panic("no limiter " + op.Verb)
		}
	}
	whole := limiters[0]
	if len(limiters) > 1 {
		whole = workqueue.NewTypedMaxOfRateLimiter(limiters...)
	}
	if limit != nil {
		whole = workqueue.NewTypedWithMaxWaitRateLimiter(whole, *limit)
	}
	return whole
}

func number(text string) int {
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return number
}
