// Command informer-harness runs client-go's own machinery against a server and tells, in lines of
// JSON, what it ended up with. A test drives it: it starts the program, makes changes on the
// server, and compares the cache that client-go built with what the server holds.
//
//	informer-harness --server URL [--resource configmaps|pods] [--namespace NS]
//	                 [--selector LABELS] [--no-watch-list] [--timeout 30s]
//
// It first walks discovery the way kubectl does, then runs a typed shared informer. On standard
// output, one object a line, in this order: "discovery", "synced", then one answer for each line
// read from standard input:
//
//	wait RV        "applied", once the cache holds everything up to that resource version
//	dump           "dump", the cache: key -> resource version, uid, labels; and the handler's tallies
//	resolve NAME   "resolved", what kubectl would understand by pods, po, deployments.apps …
//	requests       "requests", how many lists, watches and streaming lists were sent so far
//	quit           ends the program, as the end of standard input does
//
// With --elect IDENTITY it stands in a leader election instead, and tells "leader", "leading" and
// "stopped" until its input ends. With --read FORM it only tells what an informer of pods costs:
// typed, metadata or dynamic, over --wire json or protobuf, at the server of --kubeconfig.
//
// A failure is {"event":"error","message":…}; outside of a command it ends the program with 1.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

type options struct {
	server    string
	resource  string
	namespace string
	selector  string
	elect     string
	watchList bool
	timeout   time.Duration

	read       string
	wire       string
	kubeconfig string
	plain      bool
}

func main() {
	var o options
	var noWatchList bool
	flag.StringVar(&o.server, "server", "", "address of the server, plain HTTP")
	flag.StringVar(&o.resource, "resource", "configmaps", "what to cache: configmaps or pods")
	flag.StringVar(&o.namespace, "namespace", "", "one namespace; all of them when empty")
	flag.StringVar(&o.selector, "selector", "", "label selector")
	flag.StringVar(&o.elect, "elect", "", "stand in a leader election under this name")
	flag.BoolVar(&noWatchList, "no-watch-list", false, "start with a LIST instead of a streaming list")
	flag.StringVar(&o.read, "read", "", "tell what an informer of pods in this form costs")
	flag.StringVar(&o.wire, "wire", "protobuf", "wire format of --read: json or protobuf")
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "the server of --read")
	flag.BoolVar(&o.plain, "plain", false, "ask for no compression with --read")
	flag.DurationVar(&o.timeout, "timeout", 30*time.Second, "limit for the sync and for each wait")
	flag.Parse()
	o.watchList = !noWatchList
	if err := run(context.Background(), o); err != nil {
		emit(map[string]any{"event": "error", "message": err.Error()})
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.read != "" {
		return read(ctx, o)
	}
	if o.server == "" {
		return errors.New("--server is required")
	}
	// Read once by client-go, before its first use.
	if !o.watchList {
		if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
			return err
		}
	}
	counted := &requestCounter{}
	config := &rest.Config{
		Host: o.server,
		// The embedded server speaks JSON only; client-go would ask for protobuf first.
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
		QPS:           -1,
		UserAgent:     "informer-harness",
		WrapTransport: counted.wrap,
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if o.elect != "" {
		return elect(ctx, clients, o)
	}
	found, err := discover(clients.Discovery())
	if err != nil {
		return fmt.Errorf("discovery: %w", err)
	}
	emit(found)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cached, err := start(ctx, clients, o)
	if err != nil {
		return err
	}
	emit(map[string]any{
		"event":           "synced",
		"objects":         len(cached.informer.GetStore().ListKeys()),
		"resourceVersion": cached.informer.GetStore().LastStoreSyncResourceVersion(),
		"requests":        counted.counts(),
	})
	return serve(ctx, o, clients.Discovery(), cached, counted)
}

// serve answers one command after the other until `quit` or the end of the input.
func serve(ctx context.Context, o options, d discovery.DiscoveryInterface, cached *cached, counted *requestCounter) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		command, argument, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		var answer map[string]any
		var err error
		switch command {
		case "":
			continue
		case "quit":
			return nil
		case "wait":
			answer, err = cached.wait(ctx, argument, o.timeout)
		case "dump":
			answer, err = cached.dump(o.timeout)
		case "resolve":
			answer, err = resolve(d, argument)
		case "requests":
			answer = map[string]any{"event": "requests", "requests": counted.counts()}
		default:
			err = fmt.Errorf("unknown command %q", command)
		}
		if err != nil {
			answer = map[string]any{"event": "error", "command": command, "message": err.Error()}
		}
		emit(answer)
	}
	return lines.Err()
}

// emit writes one line. Keys come out sorted, so equal states print equal lines.
func emit(value any) {
	line, err := json.Marshal(value)
	if err != nil {
		panic(err) // Only maps, strings and numbers come here.
	}
	os.Stdout.Write(append(line, '\n'))
}
