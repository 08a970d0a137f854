package lucene

import (
	"context"
	"strings"
	"testing"

	"adshard/bench/layouts"
	"adshard/fault"
)

func TestWithoutTheProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := Monitor{}.Build(context.Background(), &layouts.Set{}, layouts.Options{Dir: t.TempDir()})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "deploy/peers.sh") && !strings.Contains(err.Error(), "JAVA_HOME") {
		t.Errorf("the error is %v, want one of kind %v that says what to do", err, fault.Unavailable)
	}
}

func TestNoJava(t *testing.T) {
	for _, java := range []string{"/nowhere/java", "/bin/true", ""} {
		if v := version(context.Background(), java); v != 0 {
			t.Errorf("%q is Java %d", java, v)
		}
	}
}
