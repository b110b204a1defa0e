// Package run holds a run: one agent task with its deadline, grants and budgets.
//
// Runs are values. A store keeps them and applies the rules of this package atomically;
// now is always the store's clock (S06).
package run

import (
	"regexp"
	"slices"
	"time"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// ID names a run: [A-Za-z0-9][A-Za-z0-9._:-]{0,127} (S01).
type ID string

// MaxID is the most bytes of a run id.
const MaxID = 128

var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]*$`)

// Check returns REQUEST_INVALID unless the id has the form of a run id.
func (id ID) Check() error {
	if len(id) > MaxID || !idForm.MatchString(string(id)) {
		return fault.Because(fault.RequestInvalid, "RUN_ID",
			"run_id must be 1 to 128 letters, digits, dots, underscores, colons or dashes, and start with a letter "+
				"or digit")
	}
	return nil
}

// State is a run's state. Active → Cancelled or Completed, once.
type State string

// The three states of a run.
const (
	Active    State = "ACTIVE"
	Cancelled State = "CANCELLED"
	Completed State = "COMPLETED"
)

// Grants are what a run may use. Empty lists grant nothing.
type Grants struct {
	Tools       []string `json:"tools"`
	DataSources []string `json:"data_sources"`
}

// Budget bounds what a run may spend.
type Budget struct {
	// MaxCalls is the most tool calls that may begin.
	MaxCalls int64 `json:"max_calls"`
	// MaxCallsPerTool is the same for single tools; a tool that is not named is bounded by MaxCalls
	// alone.
	MaxCallsPerTool map[string]int64 `json:"max_calls_per_tool,omitempty"`
	// MaxBytes is the most bytes of all requests, raw responses and agent results together.
	MaxBytes int64 `json:"max_bytes"`
	// MaxRefusals is how many refusals are explained; after them every refusal is
	// REFUSAL_LIMIT_REACHED.
	MaxRefusals int64 `json:"max_refusals"`
}

// Usage is what a run has spent of its budget.
type Usage struct {
	Calls        int64            `json:"calls"`
	CallsPerTool map[string]int64 `json:"calls_per_tool,omitempty"`
	Bytes        int64            `json:"bytes"`
	Refusals     int64            `json:"refusals"`
}

// Run is one agent task as its store keeps it.
type Run struct {
	ID ID
	// Incarnation tells this run from an earlier one of the same id; agent tokens carry it.
	Incarnation string
	State       State
	// CreatedAt and Deadline are times of the store's clock; stores set them at Open.
	CreatedAt, Deadline time.Time
	// TTL is the time from Open to the deadline.
	TTL time.Duration
	// RecordTTL is how long each record lives from its creation (S18).
	RecordTTL time.Duration
	Grants    Grants
	Budget    Budget
	Usage     Usage
	// ToolCallIDs lists the ids that began, in that order.
	ToolCallIDs []string
	// Refusals are the latest refusals, oldest first, at most MaxRefusalLog.
	Refusals []Refusal
}

// Afterlife is how much longer than its last possible record a run is kept. An agent token is valid for
// less than that past the deadline, so it never meets another run of the same id.
const Afterlife = 15 * time.Minute

// Forgotten returns when the run's store forgets it, by the store's clock: a run outlives its
// records and its tokens. Its last record begins before the deadline and lives for RecordTTL.
func (r Run) Forgotten() time.Time { return r.Deadline.Add(r.RecordTTL + Afterlife) }

// MaxRefusalLog is how many refusals a run's log keeps.
const MaxRefusalLog = 50

// Refusal is one line of a run's refusal log. It never carries the request.
type Refusal struct {
	// At is a time of the store's clock; stores set it.
	At time.Time `json:"at"`
	// ToolCallID is the refused call's id when it was safe, else empty.
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	Code       fault.Code `json:"code"`
	Reason     string     `json:"reason,omitempty"`
	Detail     string     `json:"detail,omitempty"`
}

// Live returns nil when the run may begin a call at now, else RUN_INACTIVE or
// RUN_DEADLINE_EXCEEDED. At the deadline itself it may not.
func (r Run) Live(now time.Time) error {
	if r.State != Active {
		return fault.New(fault.RunInactive)
	}
	if !now.Before(r.Deadline) {
		return fault.New(fault.RunDeadlineExceeded)
	}
	return nil
}

// Interrupted returns the code that a call in flight ends with because its run has ended at
// now, or "" while the run is live.
func (r Run) Interrupted(now time.Time) fault.Code {
	switch fault.CodeOf(r.Live(now)) {
	case fault.RunInactive:
		return fault.ExecutionCancelled
	case fault.RunDeadlineExceeded:
		return fault.RunDeadlineExceeded
	default:
		return ""
	}
}

// Spend returns the run after one call of the tool with a request of that many bytes, or
// TOOL_BUDGET_EXHAUSTED, RUN_BUDGET_EXHAUSTED or RUN_BYTES_EXHAUSTED (S08, S09).
func (r Run) Spend(toolName string, requestBytes int) (Run, error) {
	u := r.Usage
	if most, bounded := r.Budget.MaxCallsPerTool[toolName]; bounded && u.CallsPerTool[toolName] >= most {
		return r, fault.New(fault.ToolBudgetExhausted)
	}
	if u.Calls >= r.Budget.MaxCalls {
		return r, fault.New(fault.RunBudgetExhausted)
	}
	if u.Bytes+int64(requestBytes) > r.Budget.MaxBytes {
		return r, fault.New(fault.RunBytesExhausted)
	}
	perTool := make(map[string]int64, len(u.CallsPerTool)+1)
	for k, v := range u.CallsPerTool {
		perTool[k] = v
	}
	perTool[toolName]++
	r.Usage = Usage{Calls: u.Calls + 1, CallsPerTool: perTool, Bytes: u.Bytes + int64(requestBytes),
		Refusals: u.Refusals}
	return r, nil
}

// Charge returns the run after that many more bytes and whether they fit its budget; bytes
// that do not fit are not charged.
func (r Run) Charge(bytes int64) (Run, bool) {
	if r.Usage.Bytes+bytes > r.Budget.MaxBytes {
		return r, false
	}
	r.Usage.Bytes += bytes
	return r, true
}

// Refuse returns the run with one more refusal in its log. When counts is set the refusal counts
// towards MaxRefusals, and the fault is REFUSAL_LIMIT_REACHED once they are used up. When the run is
// over, the fault of Live overrides both and nothing is logged (S06).
func (r Run) Refuse(entry Refusal, counts bool, now time.Time) (Run, error) {
	if err := r.Live(now); err != nil {
		return r, err
	}
	if counts {
		if r.Usage.Refusals >= r.Budget.MaxRefusals {
			return r, fault.New(fault.RefusalLimitReached)
		}
		r.Usage.Refusals++
	}
	entry.At = now
	log := append(slices.Clone(r.Refusals), entry)
	if len(log) > MaxRefusalLog {
		log = log[len(log)-MaxRefusalLog:]
	}
	r.Refusals = log
	return r, nil
}

// CountsAsRefusal reports whether a refusal with this code counts towards MaxRefusals. What the agent
// got wrong counts. Duplicates, budgets, the run's state and faults of the service do not.
func CountsAsRefusal(code fault.Code) bool {
	switch code {
	case fault.ToolCallIDInvalid, fault.ToolUnknown, fault.DataSourceUnknown, fault.ToolNotAuthorized,
		fault.ToolNotReadOnly, fault.RequestInvalid, fault.RequestTooLarge, fault.QueryRejected, fault.RunMismatch:
		return true
	default:
		return false
	}
}

// End returns the run in the terminal state to. A run that is already in that state stays as it is;
// for one that ended in another way the fault is RUN_INACTIVE.
func (r Run) End(to State) (Run, error) {
	if r.State == to {
		return r, nil
	}
	if r.State != Active {
		return r, fault.New(fault.RunInactive)
	}
	r.State = to
	return r, nil
}
