// Package common is what the two oracles share: the lines they speak, the objects they move, and the
// shared informer, whose code is the same for every version of client-go.
//
// An oracle answers sequences of operations. It reads them from standard input, an object of JSON a
// line, plays each in a bubble of testing/synctest, where time is virtual and every goroutine is
// waited for, and prints an answer a line: for each operation what was said and what is seen now
// that was not seen before. The words of an operation are explained at the suite that plays them.
package common

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// Request is a sequence to play.
type Request struct {
	ID    int      `json:"id"`
	Suite string   `json:"suite"`
	Ops   []string `json:"ops"`
}

// Answer tells what the operations of a sequence did, in their order.
type Answer struct {
	ID    int    `json:"id"`
	Steps []Step `json:"steps"`
}

// Step is what one operation did.
type Step struct {
	Said []string `json:"said"`
	// Seen holds what changed in the view; the empty text stands for what is there no more.
	Seen map[string]string `json:"seen"`
}

// Script plays the operations of one sequence.
type Script interface {
	// Play does one operation and says what came of it.
	Play(op Op, say func(format string, arguments ...any))
	// Look puts all there is to see into the view.
	Look(view *View)
	// Close ends every goroutine.
	Close()
}

// Serve answers until the end of the input.
func Serve(t *testing.T, suites map[string]func() Script) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = nil
	utilruntime.ErrorHandlers = nil

	input := bufio.NewScanner(os.Stdin)
	input.Buffer(make([]byte, 1<<20), 1<<26)
	output := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	for input.Scan() {
		var request Request
		if err := json.Unmarshal(input.Bytes(), &request); err != nil {
			t.Fatalf("not a sequence: %v", err)
		}
		open, known := suites[request.Suite]
		if !known {
			t.Fatalf("no suite %q here", request.Suite)
		}
		answer := Answer{ID: request.ID}
		synctest.Test(t, func(*testing.T) {
			answer.Steps = play(open(), request.Ops)
		})
		if err := encoder.Encode(answer); err != nil {
			t.Fatal(err)
		}
		if err := output.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := input.Err(); err != nil {
		t.Fatal(err)
	}
}

func play(script Script, ops []string) []Step {
	defer script.Close()
	view := newView()
	steps := make([]Step, 0, len(ops))
	for _, op := range ops {
		said := []string{}
		say := func(format string, arguments ...any) {
			said = append(said, fmt.Sprintf(format, arguments...))
		}
		playOne(script, op, say)
		script.Look(view)
		steps = append(steps, Step{Said: said, Seen: view.changes()})
	}
	return steps
}

// playOne survives a panic of client-go, which is an answer like any other.
func playOne(script Script, op string, say func(string, ...any)) {
	defer func() {
		if cause := recover(); cause != nil {
			text, _, _ := strings.Cut(fmt.Sprint(cause), "\n")
			say("panic: %s", text)
		}
	}()
	script.Play(ParseOp(op), say)
}

// Op is an operation: a word and what it is about.
type Op struct {
	Verb string
	Args []string
	// Rest is everything behind the verb, for operations that hold others.
	Rest string
}

// ParseOp takes an operation apart.
func ParseOp(text string) Op {
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	return Op{Verb: verb, Args: strings.Fields(rest), Rest: rest}
}

// Arg is an argument, or empty.
func (o Op) Arg(at int) string {
	if at < len(o.Args) {
		return o.Args[at]
	}
	return ""
}

// Parts are the operations that an operation holds, separated by semicolons.
func Parts(text string) []Op {
	var ops []Op
	for _, part := range strings.Split(text, ";") {
		if strings.TrimSpace(part) != "" {
			ops = append(ops, ParseOp(part))
		}
	}
	return ops
}

// View is what can be seen, by name.
type View struct {
	before map[string]string
	now    map[string]string
}

func newView() *View {
	return &View{before: map[string]string{}, now: map[string]string{}}
}

// Put says what there is to see under a name.
func (v *View) Put(name, value string) {
	v.now[name] = value
}

func (v *View) changes() map[string]string {
	changes := map[string]string{}
	for name, value := range v.now {
		if before, there := v.before[name]; !there || before != value {
			changes[name] = value
		}
	}
	for name := range v.before {
		if _, there := v.now[name]; !there {
			changes[name] = ""
		}
	}
	v.before, v.now = v.now, map[string]string{}
	return changes
}
