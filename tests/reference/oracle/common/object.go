package common

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// An object is written as namespace/name@version#uid[values]: the values are what it is indexed by,
// separated by commas. An object of the cluster has no namespace and no slash. The value ! is one
// that no index function bears.
const (
	annotation = "values"
	unbearable = "!"
)

// Parse reads an object.
func Parse(text string) *corev1.ConfigMap {
	key, rest, _ := strings.Cut(text, "@")
	version, rest, _ := strings.Cut(rest, "#")
	uid, rest, _ := strings.Cut(rest, "[")
	values := strings.TrimSuffix(rest, "]")
	namespace, name, namespaced := strings.Cut(key, "/")
	if !namespaced {
		namespace, name = "", key
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace:       namespace,
		Name:            name,
		ResourceVersion: version,
		UID:             types.UID(uid),
	}}
	if values != "" {
		object.Annotations = map[string]string{annotation: values}
	}
	return object
}

// ParseAll reads objects.
func ParseAll(texts []string) []any {
	objects := make([]any, 0, len(texts))
	for _, text := range texts {
		objects = append(objects, Parse(text))
	}
	return objects
}

// Show writes an object.
func Show(object any) string {
	it, ok := object.(*corev1.ConfigMap)
	if !ok || it == nil {
		return "nothing"
	}
	return Key(it) + "@" + it.ResourceVersion + "#" + string(it.UID) + "[" + it.Annotations[annotation] + "]"
}

// ShowAll writes objects in their order.
func ShowAll(objects []any) string {
	texts := make([]string, 0, len(objects))
	for _, object := range objects {
		texts = append(texts, Show(object))
	}
	return strings.Join(texts, " ")
}

// Key is the key of an object.
func Key(object *corev1.ConfigMap) string {
	if object.Namespace == "" {
		return object.Name
	}
	return object.Namespace + "/" + object.Name
}

// Tombstone is the end of an object that nobody saw. A bare key is one of which no state is known.
func Tombstone(text string) cache.DeletedFinalStateUnknown {
	if !strings.Contains(text, "@") {
		return cache.DeletedFinalStateUnknown{Key: text}
	}
	object := Parse(text)
	return cache.DeletedFinalStateUnknown{Key: Key(object), Obj: object}
}

// Indexer is the index function of that name.
func Indexer(name string) cache.IndexFunc {
	return func(object any) ([]string, error) {
		it := object.(*corev1.ConfigMap)
		var values []string
		if text := it.Annotations[annotation]; text != "" {
			values = strings.Split(text, ",")
		}
		if slices.Contains(values, unbearable) {
			return nil, errors.New("an unbearable value")
		}
		if name == "first" {
			return values[:min(len(values), 1)], nil
		}
		return values, nil
	}
}

// LookAt puts a store and its indices into the view.
func LookAt(view *View, store cache.Indexer) {
	if versioned, ok := store.(interface{ LastStoreSyncResourceVersion() string }); ok {
		if version := versioned.LastStoreSyncResourceVersion(); version != "" {
			view.Put("applied", version)
		}
	}
	for _, object := range store.List() {
		view.Put("object "+Key(object.(*corev1.ConfigMap)), Show(object))
	}
	for name := range store.GetIndexers() {
		for _, value := range store.ListIndexFuncValues(name) {
			keys, err := store.IndexKeys(name, value)
			if err != nil {
				panic(err)
			}
			view.Put("index "+name+" "+value, strings.Join(keys, " "))
			objects, err := store.ByIndex(name, value)
			if err != nil {
				panic(err)
			}
			found := make([]string, 0, len(objects))
			for _, object := range objects {
				found = append(found, Show(object))
			}
			slices.Sort(found)
			view.Put("by "+name+" "+value, strings.Join(found, " "))
		}
	}
}
