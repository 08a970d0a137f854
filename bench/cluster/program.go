package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Program finds the program adshard. If name is "", it looks beside this
// program and on the path.
func Program(name string) (string, error) {
	if name != "" {
		found, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("--adshard %s is not a program (%w): run make build, or name another one", name, err)
		}
		return found, nil
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
