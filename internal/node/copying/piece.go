package copying

import (
	"errors"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"

	"adshard/fault"
	"adshard/internal/node/wire"
)

// PieceBytes is the size of a piece; the last one of a file may be smaller.
const PieceBytes = wire.PieceBytes

// pieces returns how many pieces a file of this size has.
func pieces(size uint64) int { return int((size + PieceBytes - 1) / PieceBytes) }

// pieceLen returns the size of a piece of a file.
func pieceLen(size uint64, piece int) int {
	return int(min(PieceBytes, size-uint64(piece)*PieceBytes))
}

// sumOf returns the checksum of a piece.
func sumOf(data []byte) uint64 { return xxhash.Sum64(data) }

// readPiece reads a piece of a file into buf, which must have room for it. Errors: fault.Corrupt if
// the file is too short.
func readPiece(f io.ReaderAt, size uint64, piece int, buf []byte) ([]byte, error) {
	data := buf[:pieceLen(size, piece)]
	n, err := f.ReadAt(data, int64(piece)*PieceBytes)
	switch {
	case n == len(data):
		return data, nil
	case errors.Is(err, io.EOF):
		return nil, fault.Newf(fault.Corrupt, "copying: read", "a file ends in its piece %d", piece)
	}
	return nil, fileError("copying: read", err)
}

// syncDir flushes the entries of a directory to disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
