package main

import (
	"net/http"
	"sync/atomic"
)

// requestCounter counts what client-go asks for, so that a test can see which way a cache was filled.
type requestCounter struct {
	lists, watches, streamingLists, others atomic.Int64
}

func (c *requestCounter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		query := request.URL.Query()
		watch := query.Get("watch") == "true" || query.Get("watch") == "1"
		switch {
		case watch && query.Get("sendInitialEvents") == "true":
			c.streamingLists.Add(1)
		case watch:
			c.watches.Add(1)
		case query.Has("resourceVersion") || query.Has("limit"):
			c.lists.Add(1)
		default:
			c.others.Add(1)
		}
		return next.RoundTrip(request)
	})
}

func (c *requestCounter) counts() map[string]int64 {
	return map[string]int64{
		"lists": c.lists.Load(), "watches": c.watches.Load(),
		"streamingLists": c.streamingLists.Load(), "others": c.others.Load(),
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
