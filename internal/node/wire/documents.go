package wire

import (
	"adshard/backend"
	"adshard/schema/pb"
)

// MaxDocumentPart bounds a part of a document, in bytes.
const MaxDocumentPart = backend.DocumentPart

// FromDocuments returns the messages of heads of documents.
func FromDocuments(list []backend.Document) []*pb.Document {
	out := make([]*pb.Document, len(list))
	for i, d := range list {
		out[i] = &pb.Document{Name: d.Name, Version: d.Version, Size: d.Size, Sum: d.Sum, Removed: d.Removed}
	}
	return out
}

// ToDocument reads the head of a document.
func ToDocument(d *pb.Document) backend.Document {
	return backend.Document{Name: d.GetName(), Version: d.GetVersion(), Size: d.GetSize(), Sum: d.GetSum(), Removed: d.GetRemoved()}
}
