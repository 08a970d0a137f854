package wire

import (
	"crypto/sha256"
	"encoding/binary"
)

// Incarnation is the hash by which a slave says which incarnation it is to
// whoever asks: the incarnation itself lets its holder speak in the slave's name.
func Incarnation(secret string) uint64 {
	sum := sha256.Sum256([]byte(secret))
	return binary.BigEndian.Uint64(sum[:])
}
