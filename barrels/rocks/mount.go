package rocks

import (
	"os"
	"path/filepath"
	"syscall"
)

// mountOf returns the highest directory above a path that is on the same disk, so that messages about one disk are the same whichever
// store meets it. It returns the path if that cannot be found out.
func mountOf(path string) string {
	at, err := filepath.Abs(path)
	disk, ok := deviceOf(at)
	if err != nil || !ok {
		return path
	}
	for {
		above := filepath.Dir(at)
		if d, ok := deviceOf(above); !ok || d != disk || above == at {
			return at
		}
		at = above
	}
}

func deviceOf(path string) (device uint64, ok bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(s.Dev), true
}
