package indatabase_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/backend"
	"adshard/backend/pgtest"
	"adshard/internal/node/control"
	"adshard/internal/node/control/controltest"
	"adshard/internal/node/control/indatabase"
	"adshard/internal/node/database"
	"adshard/internal/node/nodetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// short has lease times for tests.
var short = control.Times{Lease: 900 * time.Millisecond, Renew: 50 * time.Millisecond, Poll: 20 * time.Millisecond}

// clusters returns a factory of control states of separate clusters in one database.
func clusters(db backend.Store) controltest.Factory {
	var n atomic.Int32
	return func(*testing.T) controltest.Place {
		key := fmt.Sprint("cluster-", n.Add(1))
		return controltest.Place{Open: func() control.Store { return indatabase.New(db, key, short) }}
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	controltest.Run(t, clusters(nodetest.NewDatabase(t).DB))
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	server, err := pgtest.New("fsync=off", "full_page_writes=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Remove(); err != nil {
			t.Error(err)
		}
	})
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(t.Context(), server.URL("postgres"), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	controltest.Run(t, clusters(db))
}
