package oracle

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing/synctest"
	"time"

	"informer.dev/tests/reference/oracle/common"
)

// server answers the requests of one reflector, at once, as a kube-apiserver would, or as it was told to:
//
//	ok                          well
//	410, gone                   the version has expired
//	large, large-old            the version is too large, as servers say it now and as they did up to 1.18
//	CODE                        a status of that code: 401, 403, 404, 429, 500, 503
//	429-N                       a 429 that asks to wait for N seconds
//	refused, eof, timeout       no answer
//	short                       a watch that ends at once, without a word
//	cut                         a streaming list that is cut in the middle
//	mute                        a streaming list without an end marker
//	e410, e429, e500, e503      a watch whose first word is this error
//	!ANSWER                     this one whether or not it fits
//
// What cannot be said of a request is not said: it is answered well. A server knows no version as expired
// or too large that nobody named, and what the REST client answers by itself, by asking again, is not said
// of the later pages of a list, which ours does not ask for again. What is prepared for lists is said from when both sides must list: at the
// start, and after a watch that ends with more than a bad connection.
type server struct {
	lock sync.Mutex

	refusesStreams, hasCache, precise, spread bool

	version  int
	objects  map[string]change
	history  []change
	answers  map[string][]string
	said     []string
	mustList bool
	since    time.Time
	open     *io.PipeWriter
	// stalled is a watch that is told no more.
	stalled  bool
	isOpened chan struct{}
}

type change struct {
	kind    string
	key     string
	version int
	// garbled is an object that cannot be decoded.
	garbled bool
}

func newServer() *server {
	return &server{
		version:  10,
		objects:  map[string]change{},
		isOpened: make(chan struct{}, 1),
	}
}

// prepare reads what the requests that follow are answered.
func (s *server) prepare(op common.Op) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.answers = map[string][]string{}
	s.mustList = op.Verb == "start" || op.Verb == "error"
	for _, arg := range op.Args {
		if kind, answers, found := strings.Cut(arg, "="); found {
			s.answers[kind] = strings.Split(answers, ",")
		}
	}
	s.since = time.Now()
}

func (s *server) change(op common.Op) {
	lost := op.Verb == "lose"
	if lost {
		op = common.ParseOp(op.Rest)
	}
	kinds := map[string]string{
		"create": "ADDED", "modify": "MODIFIED", "garble": "MODIFIED", "delete": "DELETED", "bookmark": "BOOKMARK",
	}
	kind, known := kinds[op.Verb]
	if !known {
		panic("no operation " + op.Verb)
	}
	s.lock.Lock()
	s.version++
	it := change{kind: kind, key: op.Arg(0), version: s.version, garbled: op.Verb == "garble"}
	switch op.Verb {
	case "create", "modify", "garble":
		s.objects[it.key] = it
	case "delete":
		delete(s.objects, it.key)
	}
	s.history = append(s.history, it)
	open := s.open
	s.stalled = s.stalled || lost
	stalled := s.stalled
	s.lock.Unlock()
	if open != nil && !stalled {
		_, _ = io.WriteString(open, it.frame())
	}
}

// end ends the watch that is open.
func (s *server) end(how string) {
	if open := s.close(); open != nil {
		_ = open.CloseWithError(ending(how))
	}
}

// fail ends the watch that is open with an error.
func (s *server) fail(answer string) {
	if open := s.close(); open != nil {
		_, _ = io.WriteString(open, failure(answer))
		_ = open.Close()
	}
}

func (s *server) close() *io.PipeWriter {
	s.lock.Lock()
	defer s.lock.Unlock()
	open := s.open
	s.open = nil
	return open
}

func ending(how string) error {
	if how == "cut" {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

// settle lets time pass until a watch is open and all is quiet, or for long.
func (s *server) settle() {
	synctest.Wait()
	s.lock.Lock()
	open := s.open != nil
	s.lock.Unlock()
	if !open {
		select {
		case <-s.isOpened:
		case <-time.After(300 * time.Second):
		}
	}
	synctest.Wait()
	select {
	case <-s.isOpened:
	default:
	}
	time.Sleep(time.Millisecond)
	synctest.Wait()
}

func (s *server) lines() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	said := s.said
	s.said = nil
	return said
}

// RoundTrip answers.
func (s *server) RoundTrip(request *http.Request) (*http.Response, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	query := request.URL.Query()
	kind := kindOf(query)
	answer := "ok"
	if left := s.answers[kind]; len(left) > 0 && (kind == "watch" || s.mustList) {
		answer, s.answers[kind] = left[0], left[1:]
	}
	if kind == "stream" && s.refusesStreams {
		answer = "422"
	}
	if !s.fits(answer, kind, query) {
		answer = "ok"
	}
	answer = strings.TrimPrefix(answer, "!")
	if gap := time.Since(s.since); gap >= 5*time.Millisecond {
		s.said = append(s.said, s.waited(gap))
	}
	s.since = time.Now()
	s.said = append(s.said, kind+" "+shown(query)+" -> "+answer)
	s.mustList = s.mustList || kind == "watch" && slices.Contains(
		[]string{"410", "gone", "large", "large-old", "500", "403", "404"}, answer)
	switch answer {
	case "refused":
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case "eof":
		return nil, io.EOF
	case "timeout":
		return nil, os.ErrDeadlineExceeded
	case "ok", "short", "cut", "mute":
	default:
		if word, found := strings.CutPrefix(answer, "e"); found {
			return response(http.StatusOK, failure(word)), nil
		}
		return refusal(answer), nil
	}
	switch {
	case kind == "list":
		return response(http.StatusOK, s.list(query)), nil
	case answer == "short":
		return response(http.StatusOK, ""), nil
	case answer == "cut":
		return cut(s.initial()), nil
	}
	return s.watch(kind, query, answer), nil
}

func kindOf(query url.Values) string {
	switch {
	case query.Get("sendInitialEvents") != "":
		return "stream"
	case query.Get("watch") != "":
		return "watch"
	default:
		return "list"
	}
}

// fits says whether a request can be answered so.
func (s *server) fits(answer, kind string, query url.Values) bool {
	version := query.Get("resourceVersion")
	named := version != "" && version != "0"
	switch answer {
	case "410", "e410":
		return named || query.Get("continue") != ""
	case "gone", "large", "large-old":
		return named
	case "eof", "429-2":
		return query.Get("continue") == ""
	case "cut":
		return kind == "stream" && len(s.objects) > 0
	case "short", "e429", "e500", "e503":
		return kind != "list"
	default:
		return true
	}
}

// shown is a query in order of its names, with the random timeout as its range.
func shown(query url.Values) string {
	if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds >= 300 && seconds <= 600 {
		query.Set("timeoutSeconds", "300..600")
	}
	return query.Encode()
}

func (s *server) list(query url.Values) string {
	keys := slices.Sorted(maps.Keys(s.objects))
	version, begin := s.version, 0
	if token := query.Get("continue"); token != "" {
		if _, err := fmt.Sscanf(token, "%d-%d", &version, &begin); err != nil {
			panic(err)
		}
	}
	end := len(keys)
	fromCache := s.hasCache && query.Get("resourceVersion") != ""
	limit, err := strconv.Atoi(query.Get("limit"))
	if err == nil && limit > 0 && !fromCache {
		end = min(end, begin+limit)
	}
	token := ""
	if end < len(keys) {
		token = fmt.Sprintf(`,"continue":"%d-%d"`, version, end)
	}
	items := make([]string, 0, end-begin)
	for _, key := range keys[begin:end] {
		items = append(items, s.objects[key].object())
	}
	return fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"%s},"items":[%s]}`,
		version, token, strings.Join(items, ","))
}

// initial is the state as the beginning of a watch.
func (s *server) initial() string {
	var frames strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		it := s.objects[key]
		it.kind = "ADDED"
		frames.WriteString(it.frame())
	}
	return frames.String()
}

func (s *server) watch(kind string, query url.Values, answer string) *http.Response {
	var first strings.Builder
	if answer == "mute" {
		first.WriteString(s.initial())
	} else if kind == "stream" {
		first.WriteString(s.initial())
		fmt.Fprintf(&first, `{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"%d",`+
			`"annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n", s.version)
	} else {
		from, _ := strconv.Atoi(query.Get("resourceVersion"))
		for _, it := range s.history {
			if it.version > from {
				first.WriteString(it.frame())
			}
		}
	}
	reader, writer := io.Pipe()
	s.open, s.stalled = writer, false
	select {
	case s.isOpened <- struct{}{}:
	default:
	}
	opened := response(http.StatusOK, "")
	opened.Body = &watchBody{
		Reader: io.MultiReader(strings.NewReader(first.String()), reader),
		close: func() error {
			s.lock.Lock()
			if s.open == writer {
				s.open = nil
			}
			s.lock.Unlock()
			return reader.Close()
		},
	}
	return opened
}

type watchBody struct {
	io.Reader
	close func() error
}

func (w *watchBody) Close() error { return w.close() }

func (c change) object() string {
	namespace, name, _ := strings.Cut(c.key, "/")
	data := ""
	if c.garbled {
		data = `,"data":7`
	}
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":%q,"name":%q,"resourceVersion":"%d","uid":%q}%s}`,
		namespace, name, c.version, c.key, data)
}

func (c change) frame() string {
	object := c.object()
	if c.kind == "BOOKMARK" {
		object = fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"%d"}}`, c.version)
	}
	return fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", c.kind, object)
}

// status is the body of a refusal and of an error in a watch.
func status(answer string) (int, string) {
	reasons := map[string]string{
		"401": "Unauthorized", "403": "Forbidden", "404": "NotFound", "422": "Invalid", "429": "TooManyRequests",
		"500": "InternalError", "503": "ServiceUnavailable",
	}
	code, reason, message, details := 0, "", "told to", map[string]any{}
	switch answer {
	case "410":
		code, reason = http.StatusGone, "Expired"
	case "gone":
		code, reason = http.StatusGone, "Gone"
	case "large":
		code, reason = http.StatusGatewayTimeout, "Timeout"
		details["causes"] = []any{map[string]any{
			"reason": "ResourceVersionTooLarge", "message": "Too large resource version",
		}}
	case "large-old":
		code, reason, message = http.StatusGatewayTimeout, "Timeout", "Too large resource version: 9, current: 3"
	default:
		answer, _, _ = strings.Cut(answer, "-")
		code, reason = number(answer), reasons[answer]
	}
	body, err := json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"code": code, "reason": reason, "message": message, "details": details,
	})
	if err != nil {
		panic(err)
	}
	return code, string(body)
}

func refusal(answer string) *http.Response {
	code, body := status(answer)
	it := response(code, body)
	if _, seconds, found := strings.Cut(answer, "429-"); found {
		it.Header.Set("Retry-After", seconds)
	}
	return it
}

func failure(answer string) string {
	_, body := status(answer)
	return `{"type":"ERROR","object":` + body + "}\n"
}

func response(code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code,
		Status:     strconv.Itoa(code),
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(body)),
	}
}

// cut is an answer that breaks off in the middle.
func cut(body string) *http.Response {
	it := response(http.StatusOK, "")
	it.Body = io.NopCloser(io.MultiReader(strings.NewReader(body), broken{}))
	return it
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
