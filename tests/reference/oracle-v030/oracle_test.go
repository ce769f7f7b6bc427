package oracle

import (
	"testing"

	"informer.dev/tests/reference/oracle/common"
)

// TestServe is the oracle's main: the bubbles of testing/synctest want a test around them.
func TestServe(t *testing.T) {
	common.Serve(t, map[string]func() common.Script{
		"deltafifo":    newDeltaFIFO,
		"informer-old": common.NewInformer(true),
		"pump-old":     common.NewPump(true),
	})
}
