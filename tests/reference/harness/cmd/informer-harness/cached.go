package main

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// pollEvery is how often a condition on the cache is looked at: client-go has no notification for
// "the store reached this version".
const pollEvery = 5 * time.Millisecond

// cached is a typed shared informer with one handler that keeps its own copy from what it is told.
type cached struct {
	informer cache.SharedIndexInformer

	mu         sync.Mutex
	mirror     map[string]string // key -> resource version, built from handler calls alone
	added      int
	updated    int
	deleted    int
	unknown    int // deletions with no observed final state
	violations []string
}

// start runs the informer and returns once it and its handler have synced.
func start(ctx context.Context, clients kubernetes.Interface, o options) (*cached, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0,
		informers.WithNamespace(o.namespace),
		informers.WithTweakListOptions(func(list *metav1.ListOptions) { list.LabelSelector = o.selector }))
	resource := corev1.SchemeGroupVersion.WithResource(o.resource)
	generic, err := factory.ForResource(resource)
	if err != nil {
		return nil, err
	}
	c := &cached{informer: generic.Informer(), mirror: map[string]string{}}
	registration, err := c.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.onAdd,
		UpdateFunc: c.onUpdate,
		DeleteFunc: c.onDelete,
	})
	if err != nil {
		return nil, err
	}
	factory.StartWithContext(ctx)
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	if !cache.WaitForCacheSync(limited.Done(), c.informer.HasSynced, registration.HasSynced) {
		return nil, fmt.Errorf("%s did not sync within %s", o.resource, o.timeout)
	}
	return c, nil
}

// wait returns once the store has applied `version`.
func (c *cached) wait(ctx context.Context, version string, limit time.Duration) (map[string]any, error) {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		applied := c.informer.GetStore().LastStoreSyncResourceVersion()
		// An empty version (nothing applied yet) does not compare: keep waiting.
		if order, err := resourceversion.CompareResourceVersion(applied, version); err == nil && order >= 0 {
			return map[string]any{"event": "applied", "resourceVersion": applied}, nil
		}
		select {
		case <-limited.Done():
			return nil, fmt.Errorf("version %s was not applied within %s, the cache is at %q", version, limit, applied)
		case <-time.After(pollEvery):
		}
	}
}

// dump is the cache as it is now, once the handler has heard of everything in it.
func (c *cached) dump(limit time.Duration) (map[string]any, error) {
	deadline := time.Now().Add(limit)
	for {
		objects, versions, err := c.contents()
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		caughtUp := maps.Equal(versions, c.mirror)
		if caughtUp || time.Now().After(deadline) {
			defer c.mu.Unlock()
			return map[string]any{
				"event":           "dump",
				"resourceVersion": c.informer.GetStore().LastStoreSyncResourceVersion(),
				"objects":         objects,
				"handler": map[string]any{
					"equal": caughtUp, "added": c.added, "updated": c.updated, "deleted": c.deleted,
					"finalStateUnknown": c.unknown, "violations": append([]string{}, c.violations...),
				},
			}, nil
		}
		c.mu.Unlock()
		time.Sleep(pollEvery)
	}
}

func (c *cached) contents() (map[string]any, map[string]string, error) {
	objects, versions := map[string]any{}, map[string]string{}
	for _, object := range c.informer.GetStore().List() {
		key, accessor, err := identify(object)
		if err != nil {
			return nil, nil, err
		}
		labels := accessor.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		objects[key] = map[string]any{
			"resourceVersion": accessor.GetResourceVersion(), "uid": accessor.GetUID(), "labels": labels,
		}
		versions[key] = accessor.GetResourceVersion()
	}
	return objects, versions, nil
}

func (c *cached) onAdd(object any) {
	c.record(object, func(key, version string) {
		c.added++
		if held, ok := c.mirror[key]; ok {
			c.violate("added %s, which is held at %s", key, held)
		}
		c.mirror[key] = version
	})
}

func (c *cached) onUpdate(before, after any) {
	_, old, err := identify(before)
	c.record(after, func(key, version string) {
		c.updated++
		if err != nil || c.mirror[key] != old.GetResourceVersion() {
			c.violate("updated %s from a state other than the held %q", key, c.mirror[key])
		}
		c.mirror[key] = version
	})
}

func (c *cached) onDelete(object any) {
	tombstone, final := object.(cache.DeletedFinalStateUnknown)
	if final {
		object = tombstone.Obj
	}
	c.record(object, func(key, _ string) {
		c.deleted++
		if final {
			c.unknown++
		}
		if _, ok := c.mirror[key]; !ok {
			c.violate("deleted %s, which is not held", key)
		}
		delete(c.mirror, key)
	})
}

func (c *cached) record(object any, note func(key, version string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key, accessor, err := identify(object)
	if err != nil {
		c.violate("%v", err)
		return
	}
	note(key, accessor.GetResourceVersion())
}

// violate is called with the lock held.
func (c *cached) violate(format string, arguments ...any) {
	c.violations = append(c.violations, fmt.Sprintf(format, arguments...))
}

func identify(object any) (string, metav1.Object, error) {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return "", nil, err
	}
	accessor, err := meta.Accessor(object)
	return key, accessor, err
}
