package oracle

import (
	"testing"

	"informer.dev/tests/reference/oracle/common"
)

// TestServe is the oracle's main: the bubbles of testing/synctest want a test around them.
func TestServe(t *testing.T) {
	common.Serve(t, map[string]func() common.Script{
		"correlator":      newCorrelator,
		"election":        newElection,
		"informer":        common.NewInformer(false),
		"informer-spread": common.NewInformer(false),
		"kubeconfig":      newKubeconfig,
		"limiter":         newLimiter,
		"pump":            common.NewPump(false),
		"realfifo":        newRealFIFO,
		"reflector":       newReflector,
		"series":          newSeries,
		"store":           newStore,
		"workqueue":       newWorkQueue,
	})
}
