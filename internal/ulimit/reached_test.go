//go:build unix

package ulimit_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"adshard/internal/ulimit"
)

// TestAdvice: the advice names the limit that was reached and the command that raises it; other errors get no advice.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("opening: %w", &os.PathError{Op: "open", Path: "/x", Err: syscall.EMFILE}), fmt.Sprintf("this process may have %d open files, connections among them, and needs more: raise the limit with `ulimit -n ", ulimit.Files())},
		{syscall.ENFILE, "fs.file-max"},
		{syscall.ENOSPC, ""}, {syscall.ENOENT, ""}, {errors.New("Too many open files"), ""}, {nil, ""},
	} {
		got := ulimit.Advice(c.err)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: %q", c.err, got)
		}
	}
}

// TestReached: Reached returns an error only while this process has reached its limit.
func TestReached(t *testing.T) {
	if err := ulimit.Reached(); err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few := was
	few.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	err := ulimit.Reached()
	if restore := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); restore != nil {
		t.Fatal(restore)
	}
	if !errors.Is(err, syscall.EMFILE) || ulimit.Advice(err) == "" {
		t.Errorf("at the limit: %v", err)
	}
}
