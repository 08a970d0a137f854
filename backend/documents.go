package backend

import (
	"context"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"adshard/fault"
)

// Document is the head of a document: data, apart from the advertisers' data, that is written as a whole and read in parts, such
// as the table of places or a block list.
type Document struct {
	Name string
	// Version grows with each change of any document; no version is used twice.
	Version uint64
	// Size is the size of the data in bytes. Each part has DocumentPart bytes, except that the last one has the rest.
	Size uint64
	// Sum is the checksum of the data and the head (Verify).
	Sum uint64
	// Removed says that the document was removed and has no data.
	Removed bool
}

// PlacesDocument is the name of the table of places. The name of a block list's document is BlocklistDocument
// followed by the list's name. VocabularyDocument has the words of keywords (package search/spelling), and
// VocabularyInForce the version of the vocabulary by which words are to be corrected.
const (
	PlacesDocument     = "places"
	BlocklistDocument  = "blocklist/"
	VocabularyDocument = "vocabulary"
	VocabularyInForce  = "vocabulary/in-force"
)

const (
	// DocumentPart is the size of a part in bytes.
	DocumentPart = 256 << 10
	// MaxDocument is the most bytes of a document.
	MaxDocument = 128 << 20
)

// Documents is the part of a Store that keeps documents, apart from the advertisers' data. Its changes do not advance
// the store's clock.
type Documents interface {
	// Documents returns at most `limit` heads with a version above `after`, by ascending version. Heads of removed
	// documents are included.
	Documents(ctx context.Context, after uint64, limit int) ([]Document, error)
	// Document returns the head of a document. It returns fault.NotFound if there is none or it was removed.
	Document(ctx context.Context, name string) (Document, error)
	// DocumentPart returns a part of a document; parts are numbered from 0. It returns fault.NotFound if the document has
	// another version or no such part.
	DocumentPart(ctx context.Context, name string, version uint64, part int) ([]byte, error)
	// SaveDocument replaces the data of a document in one transaction if its version is `was`, or creates it if was is 0 and it
	// does not exist. With nil data it removes the document. Errors: fault.Conflict if the document has another version,
	// fault.Invalid if the data is too large.
	SaveDocument(ctx context.Context, name string, was uint64, data []byte) (Document, error)
}

// NewDocument returns the head for data, or the head of a removed document if data is nil. It returns fault.Invalid
// if the data is too large.
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

// Verify returns fault.Corrupt if data differs from what was written.
func (d *Document) Verify(data []byte) error {
	if d.sum(data) != d.Sum || uint64(len(data)) != d.Size {
		return fault.New(fault.Corrupt, "read document", &Damage{Problem: "the document " + d.Name + " differs from what was written"})
	}
	return nil
}

// Parts returns the number of parts of the data.
func (d *Document) Parts() int { return int((d.Size + DocumentPart - 1) / DocumentPart) }

// PartOf returns a part of data; parts are numbered from 0.
func PartOf(data []byte, part int) []byte {
	return data[part*DocumentPart : min(len(data), (part+1)*DocumentPart)]
}

// ReadDocument reads all parts of a document with `read` and compares them with the head. It returns errors of read, and
// fault.Corrupt if the data differs from what was written.
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

// LoadDocument reads a document and returns its head, the text that was given to PackDocument, and the packed data. Errors:
// fault.NotFound if the document does not exist, fault.Corrupt if it is damaged.
func LoadDocument(ctx context.Context, s Documents, name string) (d Document, text string, data []byte, err error) {
	for {
		if d, err = s.Document(ctx, name); err != nil {
			return d, "", nil, err
		}
		data, err = ReadDocument(ctx, d, s.DocumentPart)
		if fault.Is(err, fault.NotFound) {
			continue // the document has just been replaced
		}
		if err != nil {
			return d, "", nil, err
		}
		text, err = UnpackDocument(data)
		return d, text, data, err
	}
}
