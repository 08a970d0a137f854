package bulk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"adshard/barrels/block"
	"adshard/barrels/record"
)

// partitions are temporary files of postings, one for each interval of terms.
type partitions struct {
	bits  int
	files []*partitionFile
}

type partitionFile struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

func newPartitions(dir string, bits int) (*partitions, error) {
	p := &partitions{bits: bits}
	for i := range 1 << bits {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("postings-%04d.tmp", i)))
		if err != nil {
			p.remove()
			return nil, spillError(err)
		}
		p.files = append(p.files, &partitionFile{file: f})
	}
	return p, nil
}

// remove removes the files. Any that remain do no harm.
func (p *partitions) remove() {
	for _, f := range p.files {
		_ = errors.Join(f.file.Close(), os.Remove(f.file.Name()))
	}
}

// find returns the index of the partition of a term.
func (p *partitions) find(term uint64) int { return int(term >> 1 >> (63 - p.bits)) }

// partitionWriter holds one worker's buffers.
type partitionWriter struct {
	partitions *partitions
	buffers    [][]byte
}

// partitionBuffer is the size at which a buffer is written out.
const partitionBuffer = 64 << 10

func (p *partitions) writer() *partitionWriter {
	return &partitionWriter{partitions: p, buffers: make([][]byte, len(p.files))}
}

// An entry in the file has the term, the group's head, the keyword's id, the bid and four bytes
// (type, quality, flags, words), then norm, fold and term of each word.
const (
	entryHead = 8 + headSize + 8 + 8 + 4
	entryWord = 3 * 8
)

func (w *partitionWriter) add(term, key uint64, head []byte, k *record.Keyword, form int) error {
	i := w.partitions.find(term)
	b := binary.LittleEndian.AppendUint64(w.buffers[i], term)
	b = append(b, head...)
	b = binary.LittleEndian.AppendUint64(b, k.ID)
	b = binary.LittleEndian.AppendUint64(b, k.Bid)
	b = append(b, k.Type, k.Quality, k.PostingFlags(form), byte(len(k.Norm)))
	for j, t := range k.Forms[form].Terms {
		b = binary.LittleEndian.AppendUint64(b, k.Norm[j])
		b = binary.LittleEndian.AppendUint64(b, k.Fold[j])
		b = binary.LittleEndian.AppendUint64(b, t)
	}
	w.buffers[i] = b
	if len(b) < partitionBuffer {
		return nil
	}
	return w.write(i)
}

func (w *partitionWriter) write(i int) error {
	f := w.partitions.files[i]
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.file.Write(w.buffers[i])
	f.size += int64(n)
	w.buffers[i] = w.buffers[i][:0]
	return spillError(err)
}

func (w *partitionWriter) flush() error {
	for i := range w.buffers {
		if err := w.write(i); err != nil {
			return err
		}
	}
	return nil
}

// entryAt is the position of an entry in its partition.
type entryAt struct {
	term, key, keyword uint64
	at                 int
}

// load reads a partition.
func (f *partitionFile) load() (raw []byte, index []entryAt, err error) {
	raw = make([]byte, f.size)
	if _, err := f.file.ReadAt(raw, 0); err != nil && f.size > 0 {
		return nil, nil, spillError(err)
	}
	for at := 0; at < len(raw); {
		b := raw[at:]
		index = append(index, entryAt{
			term:    binary.LittleEndian.Uint64(b),
			key:     binary.LittleEndian.Uint64(b[8:]),
			keyword: binary.LittleEndian.Uint64(b[8+headSize:]),
			at:      at,
		})
		at += entryHead + entryWord*int(b[entryHead-1])
	}
	return raw, index, nil
}

// readEntry reads an entry and the head of its group.
func readEntry(b []byte, words []block.Word) (e block.Entry, head block.Group) {
	head = parseHead(b[8:])
	b = b[8+headSize:]
	e.Keyword, e.Bid = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	e.Type, e.Quality, e.Flags = b[16], b[17], b[18]
	n := int(b[19])
	for b = b[20:]; n > 0; n, b = n-1, b[entryWord:] {
		words = append(words, block.Word{
			Norm: binary.LittleEndian.Uint64(b), Fold: binary.LittleEndian.Uint64(b[8:]), Term: binary.LittleEndian.Uint64(b[16:]),
		})
	}
	e.Words = words
	return e, head
}
