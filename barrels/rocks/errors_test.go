package rocks

import (
	"errors"
	"strings"
	"testing"

	"adshard/fault"
)

// TestKindsOfErrors tests texts as RocksDB 7.8 writes them.
func TestKindsOfErrors(t *testing.T) {
	for text, want := range map[string]fault.Kind{
		"IO error: No space left on device: While appending to file: /data/000095.sst: No space left on device":                    fault.NoSpace,
		"Result incomplete: IO error: No space left on device: While appending to file: /data/000095.sst: No space left on device": fault.NoSpace,
		"IO error: While lock file: /data/LOCK: Resource temporarily unavailable":                                                  fault.Locked,
		"IO error: While lock file: /data/LOCK: Too many open files":                                                               fault.Unavailable,
		"Corruption: block checksum mismatch":                                                                                      fault.Corrupt,
		"IO error: While open a file for random read: /data/1.sst: x":                                                              fault.Unavailable,
		"IO error: While open a file for random read: /data/000012.sst: Too many open files":                                       fault.Unavailable,
		"Result incomplete: IO error: While open a file for appending: /data/000012.sst: Too many open files":                      fault.Unavailable,
		"Result incomplete: Write stall":                                                                                           fault.Internal,
	} {
		err := classify("op", errors.New(text))
		if fault.KindOf(err) != want {
			t.Errorf("%s: %v", text, fault.KindOf(err))
		}
		if many := strings.HasSuffix(text, "open files"); many != strings.Contains(err.Error(), "ulimit -n") || many && strings.Contains(err.Error(), "disk") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
