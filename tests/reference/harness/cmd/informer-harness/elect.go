package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// elect stands in an election for the lease `election` as this identity, and tells "leader" for each
// leader seen, "leading" and "stopped". It gives the lease back when its input ends or says `quit`.
func elect(ctx context.Context, clients kubernetes.Interface, o options) error {
	if o.namespace == "" {
		return errors.New("--elect needs --namespace")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() && strings.TrimSpace(lines.Text()) != "quit" {
		}
	}()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: "harness",
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: o.namespace, Name: "election"},
			Client:     clients.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: o.elect},
		},
		LeaseDuration:   3 * time.Second,
		RenewDeadline:   2 * time.Second,
		RetryPeriod:     200 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { emit(map[string]any{"event": "leading"}) },
			OnStoppedLeading: func() { emit(map[string]any{"event": "stopped"}) },
			OnNewLeader:      func(identity string) { emit(map[string]any{"event": "leader", "identity": identity}) },
		},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	return nil
}
