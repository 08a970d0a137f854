package backend_test

import (
	"testing"

	"adshard/backend"
	"adshard/fault"
)

func TestLoadZone(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Prague", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "GB"} {
		if zone, err := backend.LoadZone(name); err != nil || zone.String() != name {
			t.Errorf("%s: %v, %v", name, zone, err)
		}
	}
	for _, name := range []string{
		"", "Local", "localtime", "posixrules", "posix/Europe/Prague", "right/Europe/Prague", "europe/prague", "Europe/Nowhere",
		"Europe", "../UTC", "/etc/localtime", "Europe/../UTC", "(GMT+01:00) Prague", "CEST", "Europe/Prague ", "Příliš",
	} {
		if _, err := backend.LoadZone(name); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is taken (%v)", name, err)
		}
	}
}
