package wire

import (
	"adshard/backend"
	"adshard/schema/pb"
)

// MaxDocumentPart is the most bytes of a part of a document.
const MaxDocumentPart = backend.DocumentPart

// FromDocuments returns the message's form of heads of documents, and ToDocuments the opposite.
func FromDocuments(list []backend.Document) []*pb.Document {
	out := make([]*pb.Document, len(list))
	for i, d := range list {
		out[i] = &pb.Document{Name: d.Name, Version: d.Version, Size: d.Size, Sum: d.Sum, Removed: d.Removed}
	}
	return out
}

// ToDocuments returns heads of documents.
func ToDocuments(list []*pb.Document) []backend.Document {
	out := make([]backend.Document, len(list))
	for i, d := range list {
		out[i] = backend.Document{Name: d.GetName(), Version: d.GetVersion(), Size: d.GetSize(), Sum: d.GetSum(), Removed: d.GetRemoved()}
	}
	return out
}
