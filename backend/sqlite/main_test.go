package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/sqlite"
)

// childEnv names the database that a child process of a test writes to.
const childEnv = "ADSHARD_TEST_WRITE_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(sqlite.RekeyEnv); path != "" {
		if err := rekey(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child writes until it is killed.
func child(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{Create: true})
	if err != nil {
		return err
	}
	return backendtest.WriteForever(ctx, s, os.Stdout)
}

// rekey rebuilds keys until it is killed.
func rekey(path string) error {
	return backendtest.Rekey(os.Stdout, func(step func()) (backend.Store, error) {
		var o sqlite.Options
		o.Stepped(step)
		return sqlite.Open(context.Background(), path, o)
	})
}
