package main

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// discover lists every group and resource, and resolves the names that each server must know.
func discover(d discovery.DiscoveryInterface) (map[string]any, error) {
	version, err := d.ServerVersion()
	if err != nil {
		return nil, err
	}
	groups, lists, err := d.ServerGroupsAndResources()
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, group := range groups {
		names = append(names, group.Name)
	}
	slices.Sort(names)
	resources := map[string][]string{}
	for _, list := range lists {
		found := map[string]bool{}
		for _, resource := range list.APIResources {
			found[resource.Name] = true
		}
		resources[list.GroupVersion] = slices.Sorted(maps.Keys(found))
	}
	pods, err := resolve(d, "pods")
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"event": "discovery", "serverVersion": version.GitVersion, "groups": names, "resources": resources, "pods": pods,
	}, nil
}

// resolve turns what a person types into a resource, as kubectl does: short names, singular names,
// and resource.version.group or resource.group.
func resolve(d discovery.DiscoveryInterface, name string) (map[string]any, error) {
	groups, err := restmapper.GetAPIGroupResources(d)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(groups), d, nil)
	kind, err := kindOf(mapper, name)
	if err != nil {
		return nil, err
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"event": "resolved", "name": name,
		"group": mapping.Resource.Group, "version": mapping.Resource.Version, "resource": mapping.Resource.Resource,
		"kind": kind.Kind, "namespaced": mapping.Scope.Name() == meta.RESTScopeNameNamespace,
	}, nil
}

// kindOf tries name as resource.version.group first, then as resource.group (kubectl's order).
func kindOf(mapper meta.RESTMapper, name string) (schema.GroupVersionKind, error) {
	full, partial := schema.ParseResourceArg(name)
	if full != nil {
		if kind, err := mapper.KindFor(*full); err == nil {
			return kind, nil
		}
	}
	return mapper.KindFor(partial.WithVersion(""))
}
