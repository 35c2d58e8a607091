package cluster_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/coeval-dev/coeval/service/cluster/clustertest"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	goleak.VerifyTestMain(m, clustertest.Strays()...)
}
