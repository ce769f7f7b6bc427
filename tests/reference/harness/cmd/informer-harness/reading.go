package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// settles is how long after the sync the memory is read: ours is given the same time.
const settles = 3 * time.Second

// read starts one informer of pods, waits until it has synced, and tells what that cost this process:
// what a program on client-go would be, with nothing beside the informer.
func read(ctx context.Context, o options) error {
	if !o.watchList {
		if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	var received atomic.Int64
	config.QPS = -1
	config.UserAgent = "informer-harness"
	config.DisableCompression = o.plain
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil {
				response.Body = &countedBody{response.Body, &received}
			}
			return response, err
		})
	}
	switch o.wire {
	case "protobuf":
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	case "json":
		config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	default:
		return fmt.Errorf("there is no wire format %q", o.wire)
	}
	informer, err := informerOf(config, o)
	if err != nil {
		return err
	}
	begin := time.Now()
	go informer.RunWithContext(ctx)
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	if !cache.WaitForCacheSync(limited.Done(), informer.HasSynced) {
		return fmt.Errorf("not in sync within %s", o.timeout)
	}
	wall := time.Since(begin)
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	synced := received.Load()
	time.Sleep(settles)
	peak, err := memory("VmHWM")
	if err != nil {
		return err
	}
	steady, err := memory("VmRSS")
	if err != nil {
		return err
	}
	// The least that it can be: garbage collected, and given back to the system at once.
	debug.FreeOSMemory()
	least, err := memory("VmRSS")
	if err != nil {
		return err
	}
	emit(map[string]any{
		"cpu":  seconds(usage.Utime) + seconds(usage.Stime),
		"wall": wall.Seconds(), "peak": peak, "steady": steady, "least": least,
		"received": float64(synced) / 1e6,
		"objects":  len(informer.GetStore().ListKeys()),
	})
	return nil
}

func informerOf(config *rest.Config, o options) (cache.SharedIndexInformer, error) {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	switch o.read {
	case "typed":
		clients, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(o.namespace))
		return factory.Core().V1().Pods().Informer(), nil
	case "typed, managed fields dropped":
		informer, err := informerOf(config, options{read: "typed", namespace: o.namespace})
		if err != nil {
			return nil, err
		}
		return informer, informer.SetTransform(func(object any) (any, error) {
			if accessor, err := meta.Accessor(object); err == nil {
				accessor.SetManagedFields(nil)
			}
			return object, nil
		})
	case "metadata":
		client, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return metadatainformer.NewFilteredMetadataInformer(
			client, pods, o.namespace, 0, cache.Indexers{}, nil).Informer(), nil
	case "dynamic":
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		tweak := func(*metav1.ListOptions) {}
		return dynamicinformer.NewFilteredDynamicInformer(
			client, pods, o.namespace, 0, cache.Indexers{}, tweak).Informer(), nil
	default:
		return nil, fmt.Errorf("there is no form %q", o.read)
	}
}

// countedBody counts what is read of it, after decompression.
type countedBody struct {
	io.ReadCloser
	received *atomic.Int64
}

func (b *countedBody) Read(buffer []byte) (int, error) {
	n, err := b.ReadCloser.Read(buffer)
	b.received.Add(int64(n))
	return n, err
}

func seconds(time syscall.Timeval) float64 {
	return float64(time.Sec) + float64(time.Usec)/1e6
}

// memory is a line of this process' status, in megabytes.
func memory(line string) (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(status), line+":")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return 0, errors.New("the status of this process has no " + line)
	}
	kilobytes, err := strconv.ParseFloat(fields[0], 64)
	return kilobytes * 1024 / 1e6, err
}
