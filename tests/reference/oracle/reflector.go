package oracle

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"informer.dev/tests/reference/oracle/common"
)

// reflector plays a reflector over a REST client and a server of a few lines. Each request is said, with its
// query and what came of it, and each wait before one.
//
//	start FLAG…        before anything else
//	    stream         the whole state is asked for by a streaming list
//	    nostream       the server knows none
//	    cache          the server answers from a cache, without pages, what is asked for with a version
//	    page=N         items of a page
//	    internal=MS    for how long internal errors of a watch are retried
//	    precise        waits are said in milliseconds, and have no jitter
//	    spread         waits have jitter, and it is said how often the first fits in, as a power of two
//	    fresh          the first list is as ours is by default; client-go has no such choice
//	create KEY, modify KEY, delete KEY, bookmark
//	garble KEY         it is modified, and cannot be decoded any more
//	lose OPERATION     the same, and a watch that is open is told nothing from here on
//	end, cut           of the watch that is open
//	error ANSWER       ends it with an error
//	wait MS
//
// Behind each may stand what the requests that follow are answered: list=ANSWER,…, watch=ANSWER,… and
// stream=ANSWER,…. Those that are left over are forgotten, and who finds none is answered well. The
// answers are explained in server.go.
type reflector struct {
	server *server
	store  *reflected
	run    *cache.Reflector
	cancel context.CancelFunc
	ended  chan struct{}
}

func newReflector() common.Script {
	return &reflector{server: newServer(), store: &reflected{objects: map[string]string{}}}
}

func (r *reflector) Play(op common.Op, say func(string, ...any)) {
	r.server.prepare(op)
	switch op.Verb {
	case "start":
		r.start(op.Args)
	case "end", "cut":
		r.server.end(op.Verb)
	case "error":
		r.server.fail(op.Arg(0))
	case "wait":
		time.Sleep(common.Milliseconds(op.Arg(0)))
	default:
		r.server.change(op)
	}
	r.server.settle()
	for _, line := range r.server.lines() {
		say("%s", line)
	}
}

func (r *reflector) start(flags []string) {
	if r.run != nil {
		return
	}
	settings := map[string]string{}
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		settings[name] = value
	}
	_, r.server.refusesStreams = settings["nostream"]
	_, r.server.hasCache = settings["cache"]
	_, r.server.precise = settings["precise"]
	_, r.server.spread = settings["spread"]
	backoff := &wait.Backoff{
		Duration: 800 * time.Millisecond,
		Cap:      30 * time.Second,
		Steps:    int(math.Ceil(30 / .8)),
		Factor:   2,
		Jitter:   1,
	}
	if r.server.precise {
		backoff.Jitter = 0
	}
	watcher := cache.NewListWatchFromClient(r.server.client(), "configmaps", "", fields.Everything())
	r.run = cache.NewReflectorWithOptions(watcher, &corev1.ConfigMap{}, r.store, cache.ReflectorOptions{
		Name:    "reflector",
		Backoff: backoff,
	})
	if page, given := settings["page"]; given {
		r.run.WatchListPageSize = int64(number(page))
	}
	if window, given := settings["internal"]; given {
		r.run.MaxInternalErrorRetryDuration = common.Milliseconds(window)
	}
	_, streams := settings["stream"]
	*(*bool)(field(r.run, "useWatchList")) = streams

	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.ended = cancel, make(chan struct{})
	go func() {
		defer close(r.ended)
		r.run.RunWithContext(ctx)
	}()
}

func (r *reflector) Look(view *common.View) {
	if r.run == nil {
		return
	}
	view.Put("version", r.run.LastSyncResourceVersion())
	r.store.look(view)
}

func (r *reflector) Close() {
	if r.run == nil {
		return
	}
	r.cancel()
	<-r.ended
	synctest.Wait()
}

// client is a REST client whose every request the server answers.
func (s *server) client() rest.Interface {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	client, err := rest.RESTClientFor(&rest.Config{
		Host:      "http://server",
		APIPath:   "/api",
		Transport: s,
		QPS:       -1,
		ContentConfig: rest.ContentConfig{
			GroupVersion:         &corev1.SchemeGroupVersion,
			NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
		},
	})
	if err != nil {
		panic(err)
	}
	return client
}

// reflected is the store that the reflector fills.
type reflected struct {
	lock    sync.Mutex
	objects map[string]string
	synced  bool
}

func (r *reflected) put(object any) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	it := object.(*corev1.ConfigMap)
	r.objects[common.Key(it)] = it.ResourceVersion
	return nil
}

func (r *reflected) Add(object any) error    { return r.put(object) }
func (r *reflected) Update(object any) error { return r.put(object) }

func (r *reflected) Delete(object any) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.objects, common.Key(object.(*corev1.ConfigMap)))
	return nil
}

func (r *reflected) Replace(objects []any, _ string) error {
	r.lock.Lock()
	r.objects, r.synced = map[string]string{}, true
	r.lock.Unlock()
	for _, object := range objects {
		if err := r.put(object); err != nil {
			return err
		}
	}
	return nil
}

func (r *reflected) Resync() error { return nil }

func (r *reflected) look(view *common.View) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.synced {
		view.Put("synced", "yes")
	}
	for _, key := range slices.Sorted(maps.Keys(r.objects)) {
		view.Put("object "+key, key+"@"+r.objects[key])
	}
}

// waited says a wait as the sequence wants it.
func (s *server) waited(time time.Duration) string {
	switch {
	case s.precise:
		return "waited " + strconv.FormatInt(time.Round(10*1e6).Milliseconds(), 10)
	case s.spread && time >= 25_600*1e6:
		return "waited long"
	case s.spread:
		return "waited 2^" + strconv.Itoa(int(math.Floor(math.Log2(time.Seconds()/.8))))
	default:
		return "waited"
	}
}
