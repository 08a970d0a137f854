package slave

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"adshard/internal/node/config"
	"adshard/internal/outfile"
)

// instanceFile holds the instance of the slave's directory. The instance belongs to the data, not
// to the process: a slave that was restarted without a balancer is still the replica that masters
// know, while one whose directory was emptied is not.
const instanceFile = "instance"

// ownFile describes a file that a slave keeps next to its store, and that no other process uses.
func ownFile(path string) outfile.Output {
	return outfile.Output{Path: path, Kind: outfile.Kind{Name: "a file of a slave"}, Force: true, InStore: true}
}

// instanceOf returns the instance of a slave's directory. If the directory has none, it makes one.
func instanceOf(dir string) (uint64, error) {
	file := filepath.Join(dir, instanceFile)
	text, err := os.ReadFile(file)
	if err == nil {
		if v, err := strconv.ParseUint(strings.TrimSpace(string(text)), 16, 64); err == nil && v != 0 {
			return v, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, config.DirError(dir, err)
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	v := binary.LittleEndian.Uint64(random[:]) | 1
	if err := ownFile(file).WriteBytes([]byte(strconv.FormatUint(v, 16) + "\n")); err != nil {
		return 0, config.DirError(dir, err)
	}
	return v, nil
}
