package zone

import (
	"testing"
	"time"

	"adshard/fault"
)

func TestLoad(t *testing.T) {
	for name, offset := range map[string]int{"UTC": 0, "Europe/Prague": 3600, "America/New_York": -5 * 3600, "Asia/Kolkata": 19800, "Australia/Lord_Howe": 11 * 3600} {
		z, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := time.Date(2026, 1, 15, 12, 0, 0, 0, z).Zone(); got != offset || z.String() != name {
			t.Errorf("%s: %v, offset %d, want %d", name, z, got, offset)
		}
		if again, _ := Load(name); again != z {
			t.Errorf("%s: another value the second time", name)
		}
	}
	for _, name := range []string{"America/Argentina/Buenos_Aires", "Etc/GMT+5", "GB"} {
		if z, err := Load(name); err != nil || z.String() != name {
			t.Errorf("%s: %v, %v", name, z, err)
		}
	}
	for _, name := range []string{
		"localtime", "posixrules", "posix/Europe/Prague", "right/Europe/Prague", "europe/prague", "../UTC", "Europe/../UTC",
		"(GMT+01:00) Prague", "CEST", "Europe/Prague ", "Příliš", "", "Local", "utc", "Europe/Nowhere", "Europe", "../zone.go", "posix/UTC", "/etc/localtime",
	} {
		if _, err := Load(name); !fault.Is(err, fault.Invalid) {
			t.Errorf("Load(%q): %v, want Invalid", name, err)
		}
	}
}
