package backend

import (
	"context"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"adshard/fault"
)

// Document is the head of a body of data beside the advertisers' that is written whole and read in parts: the table of places, a
// block list.
type Document struct {
	Name string
	// Version grows with each change of any document, and is never given twice.
	Version uint64
	// Size is that of the data in bytes; a part has DocumentPart of them, the last one the rest.
	Size uint64
	// Sum is that of the data and of the head (Verify).
	Sum uint64
	// Removed: it is not there any more, and has no data.
	Removed bool
}

// PlacesDocument is the name of the table of places. That of a block list is BlocklistDocument and its own name.
const (
	PlacesDocument    = "places"
	BlocklistDocument = "blocklist/"
)

const (
	// DocumentPart is the size of a part in bytes.
	DocumentPart = 256 << 10
	// MaxDocument is the most bytes of a document.
	MaxDocument = 128 << 20
)

// Documents are what a Store has beside the advertisers' data. They do not move its clock.
type Documents interface {
	// Documents returns at most limit heads with a version above after, of removed ones too, by rising version.
	Documents(ctx context.Context, after uint64, limit int) ([]Document, error)
	// Document returns the head of a document that is there. Errors: fault.NotFound.
	Document(ctx context.Context, name string) (Document, error)
	// DocumentPart returns a part of a document, counted from 0. Errors: fault.NotFound, the document has another version or no
	// such part.
	DocumentPart(ctx context.Context, name string, version uint64, part int) ([]byte, error)
	// SaveDocument gives a document the data, in one transaction, if its version is was; 0: it is not there. Without data (nil)
	// it is removed. Errors: fault.Conflict, it has another version; fault.Invalid, the data are too large.
	SaveDocument(ctx context.Context, name string, was uint64, data []byte) (Document, error)
}

// NewDocument returns the head that data get, nil: a removed document's. Errors: fault.Invalid.
func NewDocument(name string, version uint64, data []byte) (Document, error) {
	if len(data) > MaxDocument {
		return Document{}, fault.Newf(fault.Invalid, "save document", "%s has %d bytes; at most %d can be kept", name, len(data), MaxDocument)
	}
	d := Document{Name: name, Version: version, Size: uint64(len(data)), Removed: data == nil}
	d.Sum = d.sum(data)
	return d, nil
}

func (d *Document) sum(data []byte) uint64 {
	var b []byte
	for _, n := range []uint64{uint64(len(d.Name)), d.Version, d.Size} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	h := xxhash.New()
	_, _ = h.Write(append(b, d.Name...)) // never fails
	_, _ = h.Write(data)
	return h.Sum64()
}

// Verify compares data with those that were written. Errors: fault.Corrupt.
func (d *Document) Verify(data []byte) error {
	if d.sum(data) != d.Sum || uint64(len(data)) != d.Size {
		return fault.New(fault.Corrupt, "read document", &Damage{Problem: "the document " + d.Name + " differs from what was written"})
	}
	return nil
}

// Parts is how many parts the data have.
func (d *Document) Parts() int { return int((d.Size + DocumentPart - 1) / DocumentPart) }

// PartOf returns a part of data, counted from 0.
func PartOf(data []byte, part int) []byte {
	return data[part*DocumentPart : min(len(data), (part+1)*DocumentPart)]
}

// ReadDocument reads all parts of a document with read and compares them with the head. Errors: those of read, and fault.Corrupt.
func ReadDocument(ctx context.Context, d Document, read func(ctx context.Context, name string, version uint64, part int) ([]byte, error)) ([]byte, error) {
	if d.Size > MaxDocument {
		return nil, fault.Newf(fault.Corrupt, "read document", "%s has %d bytes", d.Name, d.Size)
	}
	data := make([]byte, 0, d.Size)
	for part := range d.Parts() {
		b, err := read(ctx, d.Name, d.Version, part)
		if err != nil {
			return nil, err
		}
		if data = append(data, b...); uint64(len(data)) > d.Size {
			break
		}
	}
	return data, d.Verify(data)
}

// LoadDocument reads a document: its data, and the text that PackDocument got. Errors: fault.NotFound, it is not there; fault.Corrupt.
func LoadDocument(ctx context.Context, s Documents, name string) (d Document, text string, data []byte, err error) {
	for {
		if d, err = s.Document(ctx, name); err != nil {
			return d, "", nil, err
		}
		data, err = ReadDocument(ctx, d, s.DocumentPart)
		if fault.Is(err, fault.NotFound) {
			continue // it has just been replaced
		}
		if err != nil {
			return d, "", nil, err
		}
		text, err = UnpackDocument(data)
		return d, text, data, err
	}
}
