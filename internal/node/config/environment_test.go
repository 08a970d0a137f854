package config_test

import (
	"os"
	"strconv"
	"testing"

	"adshard/internal/node/config"
)

// TestStartedBy: a process that a person starts in a shell below a unit of systemd, as on a desktop, was not started by systemd.
func TestStartedBy(t *testing.T) {
	for _, c := range []struct {
		exec, invocation, up string
		want                 config.Starter
	}{
		{"", "", "", config.Hand},
		{strconv.Itoa(os.Getpid()), "a1", "", config.Systemd},
		{strconv.Itoa(os.Getppid()), "a1", "", config.Hand},
		{strconv.Itoa(os.Getppid()), "a1", "1", config.Up},
	} {
		t.Setenv("SYSTEMD_EXEC_PID", c.exec)
		t.Setenv("INVOCATION_ID", c.invocation)
		t.Setenv("STARTED_BY_UP", c.up)
		if got := config.StartedBy(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
