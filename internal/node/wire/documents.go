package wire

import (
	"adshard/backend"
	"adshard/schema/pb"
)

// MaxDocumentPart is the most bytes of a part of a document.
const MaxDocumentPart = backend.DocumentPart

// FromDocuments returns the message's form of heads of documents.
func FromDocuments(list []backend.Document) []*pb.Document {
	out := make([]*pb.Document, len(list))
	for i, d := range list {
		out[i] = &pb.Document{Name: d.Name, Version: d.Version, Size: d.Size, Sum: d.Sum, Removed: d.Removed}
	}
	return out
}

// ToDocument returns the head of a document.
func ToDocument(d *pb.Document) backend.Document {
	return backend.Document{Name: d.GetName(), Version: d.GetVersion(), Size: d.GetSize(), Sum: d.GetSum(), Removed: d.GetRemoved()}
}
