// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/submit.h"

#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "shared/spec/run_spec.h"
#include "trainer/agent/receive/bundle_check.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/slurm/job_file.h"
#include "trainer/agent/slurm/slurm.h"
#include "trainer/agent/supervisor/lost_attempt.h"
#include "trainer/agent/supervisor/stop.h"

#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

namespace rm {

namespace {

/// Slurm's own grace from SIGTERM to SIGKILL is 30 s where nobody changed it.
constexpr int64_t kEndNs = 90'000'000'000;
constexpr auto kEndPause = std::chrono::milliseconds(200);
/// sbatch is killed before that, so that later no job comes that is not there yet.
constexpr int64_t kHandingInNs = 45'000'000'000;

struct Part {
    std::string spec, plan;
    NodePlan parsed;
};

struct Submission {
    std::string script;
    std::vector<Part> parts;
};

Result<Submission> parseSubmission(const std::string& runId, const std::string& text) {
    const std::string attempt = "submit " + runId;
    RM_ASSIGN_OR_RETURN(const Json value, parseJson(text, "the order to " + attempt));
    const auto script = textAt(value, "script");
    const Json* parts = arrayAt(value, "parts");
    if (!script || !parts || parts->empty())
        return fail(ErrorCode::kInvalid, attempt + ": stdin must be {\"script\", \"parts\"}");
    Submission submission{*script, {}};
    for (const Json& part : *parts) {
        const auto spec = textAt(part, "spec"), plan = textAt(part, "plan");
        if (!spec || !plan)
            return fail(ErrorCode::kInvalid, attempt + ": a part is {\"spec\", \"plan\"}");
        const auto parsedSpec = parseRunSpec(*spec, "spec.toml");
        if (!parsedSpec)
            return failAs(attempt, parsedSpec.error());
        const auto parsed = parseNodePlan(*plan, "plan.toml");
        if (!parsed)
            return failAs(attempt, parsed.error());
        const auto index = static_cast<int64_t>(submission.parts.size());
        if (parsed->runId != runId || parsed->nodeIndex != index)
            return fail(ErrorCode::kInvalid, attempt + ": the plan of part " +
                                                 std::to_string(index) + " is another one's");
        submission.parts.push_back({*spec, *plan, *parsed});
    }
    return submission;
}

/// Writes agent.json without ranks, too: the attempt has begun, and who attaches waits for it.
Result<void> writePart(const std::string& partDir, const Part& part) {
    for (const char* folder : {"", "/journal", "/log", "/board"})
        RM_RETURN_IF_ERROR(makeFolders(partDir + folder));
    RM_RETURN_IF_ERROR(writeFileAtomically(partDir + "/spec.toml", part.spec));
    AgentState state;
    state.attempt = static_cast<int32_t>(part.parsed.attempt);
    state.nodeIndex = static_cast<int32_t>(part.parsed.nodeIndex);
    RM_RETURN_IF_ERROR(saveAgentState(partDir, state));
    return writeFileAtomically(partDir + "/plan.toml", part.plan);
}

/// How the job ended, in words.
std::string howItEnded(const JobFile& file, const std::optional<SlurmJob>& job) {
    if (file.id.empty())
        return "it was not handed in to Slurm, as the agent on the login node ended meanwhile";
    const std::string name = "job " + file.id + " of Slurm ";
    if (!job)
        return name + "is over, and Slurm knows it no more";
    if (job->state == "CANCELLED")
        return name + "was cancelled";
    if (job->state == "TIMEOUT")
        return name + "ended at its time limit";
    if (job->state == "NODE_FAIL")
        return name + "ended, as a node of it failed";
    if (job->state == "OUT_OF_MEMORY")
        return name + "ended, as it used more memory than it had asked for; ask for more by "
                      "--mem=SIZE in launch.sbatch";
    if (job->state == "PREEMPTED")
        return name + "was preempted and is not started again";
    return name + "ended as " + job->state +
           (job->reason.empty() || job->reason == "None" ? std::string()
                                                         : " (" + job->reason + ")");
}

Result<void> closePart(const std::string& partDir, const JobFile& file,
                       const std::optional<SlurmJob>& job, bool requested) {
    const bool isCancelled = requested || (job && job->state == "CANCELLED");
    return closeLostAttempt(partDir, {.requested = isCancelled, .why = howItEnded(file, job)});
}

/// A run's job, as noted and as Slurm knows it.
struct KnownJob {
    JobFile file;
    std::optional<SlurmJob> job; ///< nullopt: Slurm knows it no more
    bool isBeingHandedIn = false;

    bool isAlive() const {
        return isBeingHandedIn || (job && phaseOf(job->state) != SlurmPhase::kOver);
    }
};

/// Finds a job of which sbatch's answer was not noted by its name, and notes its id.
Result<KnownJob> findUnnoted(const std::string& runFolder, JobFile file) {
    RM_ASSIGN_OR_RETURN(auto job, findJobNamed(jobName(runFolder, file.attempt)));
    if (job) {
        file.id = job->id;
        RM_RETURN_IF_ERROR(saveJobFile(runFolder, file));
    }
    const bool mayCome = !job && wallNowNs() - file.requestedNs < kHandingInNs;
    return KnownJob{std::move(file), std::move(job), mayCome};
}

/// nullopt: the run has none.
Result<std::optional<KnownJob>> jobOf(const std::string& runFolder) {
    RM_ASSIGN_OR_RETURN(auto file, loadJobFile(runFolder));
    if (!file)
        return std::nullopt;
    if (file->id.empty()) {
        RM_ASSIGN_OR_RETURN(auto known, findUnnoted(runFolder, std::move(*file)));
        return known;
    }
    RM_ASSIGN_OR_RETURN(auto job, findJob(file->id));
    return KnownJob{std::move(*file), std::move(job)};
}

std::vector<std::string> partsIn(const std::string& runFolder) {
    std::vector<std::string> parts;
    std::error_code error;
    for (std::filesystem::directory_iterator at(runFolder, error), end; !error && at != end;
         at.increment(error))
        if (std::filesystem::exists(at->path() / "plan.toml", error))
            parts.push_back(at->path().string());
    return parts;
}

} // namespace

Result<bool> isJobAlive(const std::string& runFolder) {
    return jobOf(runFolder).map(
        [](const std::optional<KnownJob>& known) { return known && known->isAlive(); });
}

Result<bool> endJob(const std::string& runFolder, bool kill) {
    const int64_t deadlineNs = monotonicNowNs() + kEndNs;
    RM_ASSIGN_OR_RETURN(auto known, jobOf(runFolder));
    if (!known)
        return false;
    const bool wasAlive = known->isAlive();
    for (bool isCancelled = false; known->isAlive();) {
        if (!isCancelled && known->job) {
            RM_RETURN_IF_ERROR(cancelJob(known->file.id, kill));
            isCancelled = true;
        }
        if (monotonicNowNs() >= deadlineNs)
            return fail(ErrorCode::kUnavailable,
                        "cancel job " + known->file.id + " of Slurm: it is " +
                            (known->job ? known->job->state : "being handed in") +
                            " still; try again later");
        std::this_thread::sleep_for(kEndPause);
        RM_ASSIGN_OR_RETURN(known, jobOf(runFolder));
        if (!known)
            return true; // another one has ended it
    }
    for (const std::string& part : partsIn(runFolder))
        RM_RETURN_IF_ERROR(closePart(part, known->file, known->job, wasAlive));
    return wasAlive;
}

Result<bool> closeAfterJob(const std::string& partDir) {
    RM_ASSIGN_OR_RETURN(const auto known, jobOf(runFolderOf(partDir)));
    if (!known || known->isAlive())
        return false;
    return closePart(partDir, known->file, known->job, false).map([] { return true; });
}

std::string jobStateOf(const Folders& folders, const std::string& runId) {
    const auto answer = [&]() -> Result<Json> {
        RM_ASSIGN_OR_RETURN(const auto runFolder, folders.runDir(runId));
        RM_ASSIGN_OR_RETURN(const auto known, jobOf(runFolder));
        if (!known)
            return fail(ErrorCode::kNotFound, "run " + runId + ": it has no job");
        if (!known->isAlive())
            return Json{{"phase", "over"}, {"words", howItEnded(known->file, known->job)}};
        if (!known->job)
            return Json{{"phase", "waiting"}, {"words", "its job is being handed in to Slurm"}};
        const SlurmJob& job = *known->job;
        if (phaseOf(job.state) == SlurmPhase::kWaiting)
            return Json{{"phase", "waiting"}, {"words", whyItWaits(job)}};
        return Json{{"phase", "running"},
                    {"words", "job " + job.id + " of Slurm begins on " + job.nodes}};
    }();
    return dumpJson(answer ? *answer : Json{{"problem", answer.error().message}}) + "\n";
}

namespace {

/// The note of it comes first, so that a job of which the answer is lost is found by its name.
Result<std::string> handIn(const std::string& runFolder, const std::string& script,
                           int64_t attempt) {
    RM_RETURN_IF_ERROR(saveJobFile(runFolder, {"", attempt, wallNowNs()}));
    const Result<std::string> job =
        submitJob(script, jobName(runFolder, attempt), runFolder + "/slurm-%j.log");
    if (!job && job.error().code == ErrorCode::kInvalid) {
        std::error_code ignored;
        std::filesystem::remove(runFolder + "/job.json", ignored);
        return fail(ErrorCode::kUnavailable, job.error().message);
    }
    if (job)
        RM_RETURN_IF_ERROR(saveJobFile(runFolder, {*job, attempt, wallNowNs()}));
    return job;
}

} // namespace

Result<std::string> submitRun(const Folders& folders, const std::string& runId,
                              const std::string& text) {
    const std::string attempt = "submit " + runId;
    RM_ASSIGN_OR_RETURN(const std::string runFolder, folders.runDir(runId));
    RM_ASSIGN_OR_RETURN(const Submission submission, parseSubmission(runId, text));
    const NodePlan& first = submission.parts.front().parsed;
    if (const Result<void> whole = verifyBundle(folders.home, first.bundle); !whole)
        return failAs(attempt, whole.error());
    if (const Result<void> ended = endEarlierAttempts(folders, runId, first.attempt); !ended)
        return failAs(attempt, ended.error());
    for (size_t i = 0; i < submission.parts.size(); ++i) {
        RM_ASSIGN_OR_RETURN(const auto partDir, folders.partDir(runId, static_cast<int64_t>(i)));
        if (const auto written = writePart(partDir, submission.parts[i]); !written)
            return failAs(attempt, written.error());
    }
    const std::string script = runFolder + "/job.sh";
    RM_RETURN_IF_ERROR(writeFileAtomically(script, submission.script));
    const Result<std::string> job = handIn(runFolder, script, first.attempt);
    if (!job)
        return failAs(attempt, job.error());
    return dumpJson({{"job", *job}}) + "\n";
}

} // namespace rm
