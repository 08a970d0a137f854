package linked

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"

	"adshard/bench/layouts/record"
	"adshard/fault"
)

// A request is its kind (a byte), the number of keys (uvarint) and the keys: words with
// their lengths (uvarint), or ids (uvarint). An answer has, for each key in order, the
// length of its value plus 1 (uvarint) and then the value, or 0 if the key has no
// value.
const (
	kindMatching = 'm'
	kindRecords  = 'r'
)

// server serves data on the loopback interface.
type server struct {
	data     *data
	listener net.Listener
	work     sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]struct{}
}

func serve(d *data) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fault.New(fault.Internal, "linked: serve", err)
	}
	s := &server{data: d, listener: l, open: make(map[net.Conn]struct{})}
	s.work.Go(s.accept)
	return s, nil
}

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		s.open[c] = struct{}{}
		s.mu.Unlock()
		s.work.Go(func() { s.answer(c) })
	}
}

// answer serves a connection until its client closes it.
func (s *server) answer(c net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
		_ = c.Close() // there is no caller to tell
	}()
	in, out := bufio.NewReaderSize(c, 1<<16), bufio.NewWriterSize(c, 1<<16)
	for {
		if err := s.one(in, out); err != nil || out.Flush() != nil {
			return
		}
	}
}

// one answers one request.
func (s *server) one(in *bufio.Reader, out *bufio.Writer) error {
	kind, err := in.ReadByte()
	if err != nil {
		return err
	}
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return err
	}
	var key, head []byte
	for range n {
		k, err := binary.ReadUvarint(in)
		if err != nil {
			return err
		}
		v, ok := s.data.records[k]
		if kind == kindMatching {
			if k > 1<<16 {
				return record.Damaged()
			}
			key = append(key[:0], make([]byte, k)...)
			if _, err := io.ReadFull(in, key); err != nil {
				return err
			}
			v, ok = s.data.matching[string(key)]
		}
		head = append(head[:0], 0)
		if ok {
			head = binary.AppendUvarint(head[:0], uint64(len(v))+1)
		}
		if _, err := out.Write(head); err != nil {
			return err
		}
		if _, err := out.Write(v); err != nil {
			return err
		}
	}
	return nil
}

// close ends the server; clients must have closed their connections.
func (s *server) close() error {
	err := s.listener.Close()
	s.mu.Lock()
	for c := range s.open {
		err = errors.Join(err, c.Close())
	}
	s.mu.Unlock()
	s.work.Wait()
	return fault.New(fault.Internal, "linked: close", err)
}

// dial opens a connection for one searcher.
func (s *server) dial() (source, error) {
	c, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		return nil, fault.New(fault.Unavailable, "linked: dial", err)
	}
	return &remote{c: c, in: bufio.NewReaderSize(c, 1<<16)}, nil
}

// remote is the client side of a connection.
type remote struct {
	c       net.Conn
	in      *bufio.Reader
	request []byte
	out     [][]byte
	buffers [][]byte
}

func (r *remote) matching(words []string) ([][]byte, error) {
	r.request = binary.AppendUvarint(append(r.request[:0], kindMatching), uint64(len(words)))
	for _, w := range words {
		r.request = append(binary.AppendUvarint(r.request, uint64(len(w))), w...)
	}
	return r.ask(len(words))
}

// batch is the number of records asked for at once. It is small enough that neither
// side waits for the other to read.
const batch = 1024

func (r *remote) records(ids []uint64) (all [][]byte, err error) {
	if len(ids) > batch {
		for len(ids) > 0 {
			n := min(batch, len(ids))
			part, err := r.records(ids[:n])
			if err != nil {
				return nil, err
			}
			for _, v := range part {
				all = append(all, append([]byte(nil), v...))
			}
			ids = ids[n:]
		}
		return all, nil
	}
	r.request = binary.AppendUvarint(append(r.request[:0], kindRecords), uint64(len(ids)))
	for _, id := range ids {
		r.request = binary.AppendUvarint(r.request, id)
	}
	return r.ask(len(ids))
}

// ask sends the request and reads the values of n keys.
func (r *remote) ask(n int) ([][]byte, error) {
	const op = "linked: ask"
	if _, err := r.c.Write(r.request); err != nil {
		return nil, fault.New(fault.Unavailable, op, err)
	}
	for len(r.buffers) < n {
		r.buffers = append(r.buffers, nil)
	}
	r.out = r.out[:0]
	for i := range n {
		size, err := binary.ReadUvarint(r.in)
		if err != nil {
			return nil, fault.New(fault.Unavailable, op, err)
		}
		if size == 0 {
			r.out = append(r.out, nil)
			continue
		}
		if size--; uint64(cap(r.buffers[i])) < size {
			r.buffers[i] = make([]byte, size)
		}
		r.buffers[i] = r.buffers[i][:size]
		if _, err := io.ReadFull(r.in, r.buffers[i]); err != nil {
			return nil, fault.New(fault.Unavailable, op, err)
		}
		r.out = append(r.out, r.buffers[i])
	}
	return r.out, nil
}

func (r *remote) Close() error { return fault.New(fault.Internal, "linked: close", r.c.Close()) }
