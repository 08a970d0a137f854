package wire

import (
	"crypto/sha256"
	"encoding/binary"
)

// Incarnation returns the hash of an incarnation, which a slave tells to anyone who asks. The
// incarnation itself is a secret: anyone who has it can act as the slave.
func Incarnation(secret string) uint64 {
	sum := sha256.Sum256([]byte(secret))
	return binary.BigEndian.Uint64(sum[:])
}
