package clustertest

import (
	"math/rand/v2"
	"os"
)

// Flip flips one bit of a file, unless the file is empty.
func Flip(path string, dice *rand.Rand) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	return FlipAt(f, dice.Int64N(info.Size()), byte(1)<<dice.IntN(8))
}

// FlipAt flips the bits of mask in the byte at an offset.
func FlipAt(f *os.File, at int64, mask byte) error {
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		return err
	}
	b[0] ^= mask
	_, err := f.WriteAt(b, at)
	return err
}
