package loadproxy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/schema/pb"
)

// spool keeps the keywords of groups that arrive in parts, in an unnamed file, until the bucket
// is applied. All parts must have arrived before that, and they may not fit into memory.
type spool struct {
	file *os.File // nil if no group arrived in parts
	end  int64
	at   map[place]extent
}

// place identifies a part; extent is its place in the file.
type (
	place struct {
		key  uint64
		part uint32
	}
	extent struct{ from, size int64 }
)

// fetch gets all parts of the groups in a bucket that come in parts.
func (p *Proxy) fetch(ctx context.Context, d Distributor, epoch uint64, data *pb.NodeData) (*spool, error) {
	s := &spool{at: make(map[place]extent)}
	for _, it := range data.GetItems() {
		for part := range it.GetParts() {
			err := p.fetchPart(ctx, d, s, &pb.PartRequest{Name: p.cfg.Name, Incarnation: p.cfg.Incarnation, Epoch: epoch,
				Position: data.GetFrom(), Key: it.GetGroup().GetKey(), Version: it.GetGroup().GetVersion(), Part: part})
			if err != nil {
				s.close()
				return nil, fmt.Errorf("part %d of %d of group %d: %w", part+1, it.GetParts(), it.GetGroup().GetId(), err)
			}
		}
	}
	return s, nil
}

func (p *Proxy) fetchPart(ctx context.Context, d Distributor, s *spool, r *pb.PartRequest) error {
	call, cancel := context.WithTimeout(ctx, p.cfg.CallTimeout)
	defer cancel()
	reply, err := d.Part(call, r)
	if err != nil {
		return err
	}
	return s.write(p.cfg.Spool, place{r.GetKey(), r.GetPart()}, reply)
}

// write appends a part to the file. It creates the file in dir if there is none yet.
func (s *spool) write(dir string, at place, part *pb.PartResponse) (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(dir, "parts-*"); err != nil {
			return spoolError(err)
		}
		if err = os.Remove(s.file.Name()); err != nil {
			return spoolError(err)
		}
	}
	raw, err := proto.Marshal(part)
	if err != nil {
		return fault.New(fault.Internal, "slave: spool", err)
	}
	if _, err = s.file.WriteAt(raw, s.end); err != nil {
		return spoolError(err)
	}
	s.at[at] = extent{s.end, int64(len(raw))}
	s.end += int64(len(raw))
	return nil
}

// read implements barrels.Parts.
func (s *spool) read(it *pb.Item, part uint32) ([]*pb.Keyword, error) {
	e, ok := s.at[place{it.GetGroup().GetKey(), part}]
	if !ok {
		return nil, fault.Newf(fault.Internal, "slave: spool", "part %d of group %d is missing", part, it.GetGroup().GetId())
	}
	raw := make([]byte, e.size)
	if _, err := s.file.ReadAt(raw, e.from); err != nil {
		return nil, spoolError(err)
	}
	out := new(pb.PartResponse)
	if err := proto.Unmarshal(raw, out); err != nil {
		return nil, fault.New(fault.Internal, "slave: spool", err)
	}
	return out.GetKeywords(), nil
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
}

func spoolError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fault.New(fault.NoSpace, "slave: spool", err)
	}
	return fault.New(fault.Unavailable, "slave: spool", err)
}
