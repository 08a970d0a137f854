package cluster

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Program finds the program adshard: the one named, if one is, else beside this
// program or on the path.
func Program(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), "adshard")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	found, err := exec.LookPath("adshard")
	if err != nil {
		return "", errors.New("the program adshard is neither beside adbench nor on the path: run make build, or name it with --adshard")
	}
	return found, nil
}
