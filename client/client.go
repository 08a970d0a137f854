package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Config says where a cluster is. A kind of call needs only the addresses of its own servers.
type Config struct {
	// Masters, Collectors and Balancers are base URLs, such as http://10.0.0.5:8080. They are those of
	// masters' public ports, collectors' event ports and balancers' admin ports.
	Masters, Collectors, Balancers []string
	// Token is sent to balancers, or "" if there is none.
	Token string
	// TLS is the configuration for https. nil means that the system's certificates are used.
	TLS *tls.Config
	// Tries is the largest number of times that a request is sent, to one server or several. 0 means
	// 4.
	Tries int
	// Pause is about how long to wait before a request is sent to a server again. It doubles each
	// time. 0 means 100 ms.
	Pause time.Duration
	// Connections is the number of idle connections kept open to each server. 0 means 64.
	Connections int
}

// Client sends requests to the servers of a cluster. It is safe for concurrent use.
type Client struct {
	http                           *http.Client
	token                          string
	tries                          int
	pause                          time.Duration
	masters, collectors, balancers *servers
}

// avoided is how long a server that could not be reached is tried last.
const avoided = 5 * time.Second

// New returns a client. It makes no call. Errors are those of the configuration.
func New(cfg Config) (*Client, error) {
	c := &Client{token: cfg.Token, tries: orDefault(cfg.Tries, 4), pause: orDefault(cfg.Pause, 100*time.Millisecond)}
	var faults []error
	for _, kind := range []struct {
		name string
		list []string
		to   **servers
	}{{"Masters", cfg.Masters, &c.masters}, {"Collectors", cfg.Collectors, &c.collectors}, {"Balancers", cfg.Balancers, &c.balancers}} {
		s := &servers{kind: kind.name}
		for _, text := range kind.list {
			u, err := url.Parse(text)
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				faults = append(faults, fmt.Errorf("client: %s: %q is not a URL such as http://10.0.0.5:8080", kind.name, text))
				continue
			}
			s.list = append(s.list, &server{base: strings.TrimSuffix(u.String(), "/")})
		}
		*kind.to = s
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = cfg.TLS
	transport.MaxIdleConnsPerHost = orDefault(cfg.Connections, 64)
	transport.MaxIdleConns = 0 // the limit per server also bounds the total
	c.http = &http.Client{Transport: transport}
	return c, errors.Join(faults...)
}

func orDefault[T ~int | ~int64](v, preset T) T {
	if v > 0 {
		return v
	}
	return preset
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// servers are the servers of one kind.
type servers struct {
	kind string
	mu   sync.Mutex
	list []*server
	next int
}

// server is a server of a cluster.
type server struct {
	base string
	down time.Time // when it was last found unreachable; under servers.mu
}

// order returns all servers in turn, with those that recently could not be reached last.
func (s *servers) order() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	var up, down []*server
	for i := range s.list {
		v := s.list[(s.next+i)%len(s.list)]
		if time.Since(v.down) < avoided {
			down = append(down, v)
		} else {
			up = append(up, v)
		}
	}
	return append(up, down...)
}

// mark records whether a server could be reached.
func (s *servers) mark(v *server, reached bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.down = time.Time{}
	if !reached {
		v.down = time.Now()
	}
}
