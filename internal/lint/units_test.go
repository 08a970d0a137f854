package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const systemd = "../../deploy/packages/systemd"

// exposure returns an error if systemd rates the exposure of a unit at more than 2.5 of 10.
func exposure(unit string) (string, error) {
	out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=25", "--no-pager", unit).CombinedOutput()
	return string(out), err
}

// TestUnits: systemd rates the units of the packages as hardened.
func TestUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd-analyze")
	}
	units, err := filepath.Glob(systemd + "/*.service")
	if err != nil || len(units) != 5 {
		t.Fatalf("%q %v: want five units", units, err)
	}
	for _, unit := range units {
		out, err := exposure(unit)
		if err != nil || !strings.Contains(out, "Overall exposure level") {
			t.Errorf("%s: %v: %s", unit, err, out)
		}
	}
	bare := filepath.Join(t.TempDir(), "adshard-master.service")
	text, err := os.ReadFile(systemd + "/adshard-master.service")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bare, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exposure(bare); err == nil {
		t.Errorf("a unit without 10-common.conf passes: %s", out)
	}
}
