package console

import (
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/httpapi"
)

const (
	lifetime = 12 * time.Hour
	// maxSessions bounds all sessions, and maxOfToken the sessions of one token, so that no token can
	// displace the sessions of others.
	maxSessions = 1000
	maxOfToken  = 20
)

// Sessions holds the sessions of people who have signed in. Each maps a browser's cookie to the token that
// it stands for; only the hashes of both are kept. The zero value is empty.
type Sessions struct {
	mu   sync.Mutex
	list map[[sha256.Size]byte]session // by the hash of the cookie's value
}

type session struct {
	token access.TokenHash
	until time.Time
}

// open begins a session and returns the value of its cookie. If there are too many sessions, of the token or
// in total, the one that would end first is ended.
func (s *Sessions) open(token access.TokenHash, now time.Time) string {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.list = make(map[[sha256.Size]byte]session)
	}
	s.makeRoom(maxOfToken, func(v session) bool { return v.token == token })
	s.makeRoom(maxSessions, func(session) bool { return true })
	s.list[sha256.Sum256([]byte(id))] = session{token, now.Add(lifetime)}
	return id
}

// makeRoom ends the session that would end first among those for which `of` returns true, if there are
// already `most` of them.
func (s *Sessions) makeRoom(most int, of func(session) bool) {
	var oldest [sha256.Size]byte
	n := 0
	for key, v := range s.list {
		if !of(v) {
			continue
		}
		if n++; n == 1 || v.until.Before(s.list[oldest].until) {
			oldest = key
		}
	}
	if n >= most {
		delete(s.list, oldest)
	}
}

// token returns the token that a cookie stands for. ok is false if the cookie has no session.
func (s *Sessions) token(id string, now time.Time) (token access.TokenHash, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(id))
	v, ok := s.list[key]
	if ok && !now.Before(v.until) {
		delete(s.list, key)
		return token, false
	}
	return v.token, ok
}

func (s *Sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.list, sha256.Sum256([]byte(id)))
}

// cookieOf returns the name of a port's cookie: browsers send the cookies of a host to all of its ports, and
// each port has its own sessions.
func cookieOf(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "adshard"
	}
	return "adshard_" + port
}

// Caller returns the identity that has signed in. ok is false if there is none, or if its token is no longer
// valid.
func (s *Sessions) Caller(r *http.Request, gate *access.Gate) (who access.Identity, ok bool) {
	cookie, err := r.Cookie(cookieOf(r))
	if err != nil || gate == nil || gate.Tokens == nil {
		return who, false
	}
	token, ok := s.token(cookie.Value, time.Now())
	if !ok {
		return who, false
	}
	return gate.Tokens().FindHash(token)
}

// login begins a session for a token.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		c.fail(w, r, http.StatusBadRequest, "The form cannot be read.")
		return
	}
	token := access.HashToken(strings.TrimSpace(r.PostForm.Get("token")))
	gate := c.cfg.Gate
	if gate == nil || gate.Tokens == nil {
		c.fail(w, r, http.StatusBadRequest, "This port has no tokens: show a certificate of the cluster.")
		return
	}
	who, ok := gate.Tokens().FindHash(token)
	if !ok {
		if gate.Refused != nil {
			gate.Refused(who, r.RemoteAddr, access.SignIn,
				fault.Newf(fault.Forbidden, "console", "somebody tried to sign in with what is not a token of this port"))
		}
		c.signIn(w, r, http.StatusUnauthorized, "This is not a token of this port.")
		return
	}
	http.SetCookie(w, c.cookie(r, c.cfg.Memory.Sessions.open(token, time.Now()), int(lifetime.Seconds())))
	http.Redirect(w, r, back(r), http.StatusSeeOther)
}

// back returns the console page to return to.
func back(r *http.Request) string {
	if to := r.PostForm.Get("back"); strings.HasPrefix(to, Root) && !strings.ContainsAny(to, "\\\r\n") {
		return to
	}
	return Root
}

// logout ends a session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieOf(r)); err == nil {
		c.cfg.Memory.Sessions.end(cookie.Value)
	}
	http.SetCookie(w, c.cookie(r, "", -1))
	http.Redirect(w, r, Root, http.StatusSeeOther)
}

// cookie returns a cookie that is sent only to this port's pages and hidden from scripts. If the page came
// over TLS, the cookie is never sent without TLS.
func (c *Console) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: cookieOf(r), Value: value, Path: Root, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: httpapi.OverTLS(r),
	}
}

// ofThisSite refuses requests that do not come from a page of this port. The port itself already refuses
// requests that name another site (http.CrossOriginProtection); ofThisSite also refuses those that name
// none.
func ofThisSite(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Sec-Fetch-Site") != "same-origin" && r.Header.Get("Origin") == "" {
			w.Header().Set("Connection", "close") // an unread body may never end
			httpapi.WriteError(w, httpapi.Forbidden("forms of the console are sent by its pages; programs have the calls of /openapi.yaml"))
			return
		}
		next(w, r)
	}
}
