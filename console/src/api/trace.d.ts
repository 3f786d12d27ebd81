/** What the trace server's OpenAPI document says. Written by scripts/console-api.ts. */
export interface paths {
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a run */
        post: operations["post_api_v1_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a run */
        get: operations["get_api_v1_runs_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Update a run; absent and null fields keep their values */
        patch: operations["patch_api_v1_runs_run_id"];
        trace?: never;
    };
    "/api/v1/runs/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create and update runs */
        post: operations["post_api_v1_runs_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/multipart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create and update runs, with attachments and feedback, as multipart/form-data */
        post: operations["post_api_v1_runs_multipart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/otel/v1/traces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ingest OpenTelemetry spans, as OTLP over HTTP in protobuf or JSON */
        post: operations["post_otel_v1_traces"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-price-map": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List model prices: the workspace's own, then Heddle's built-in ones; the first match applies */
        get: operations["get_api_v1_model_price_map"];
        put?: never;
        /** Add a model price of the workspace */
        post: operations["post_api_v1_model_price_map"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-price-map/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Replace a model price of the workspace */
        put: operations["put_api_v1_model_price_map_id"];
        post?: never;
        /** Delete a model price of the workspace */
        delete: operations["delete_api_v1_model_price_map_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Query runs by filter, newest first, in pages */
        post: operations["post_api_v1_runs_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/query/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Validate the filter expressions of a query, and locate errors */
        post: operations["post_api_v1_runs_query_validate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get statistics of runs, in total or by group */
        post: operations["post_api_v1_runs_stats"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/stats/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get statistics of runs in time buckets, in total or by group */
        post: operations["post_api_v1_runs_stats_timeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/group": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List the threads of a project, latest turn first */
        post: operations["post_api_v1_runs_group"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/group/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get statistics of the threads of a project */
        post: operations["post_api_v1_runs_group_stats"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/threads/{thread_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the messages of a thread as text */
        get: operations["get_api_v1_runs_threads_thread_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/threads/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Query the threads of a project, in pages, latest turn first */
        post: operations["post_api_v2_threads_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/threads/{thread_id}/traces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the turns of a thread, oldest first */
        get: operations["get_api_v2_threads_thread_id_traces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/threads/{thread_id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get statistics of a thread */
        get: operations["get_api_v2_threads_thread_id_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Query runs of projects or of a dataset's experiments, in pages */
        post: operations["post_api_v2_runs_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a run of a project */
        get: operations["get_api_v2_runs_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{run_id}/url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the console's URL of a run */
        get: operations["get_api_v2_runs_run_id_url"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/traces/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Query traces of a project, in pages */
        post: operations["post_api_v2_traces_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/traces/{trace_id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of a trace, ordered by start */
        get: operations["get_api_v2_traces_trace_id_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/delete/traces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delete traces of a project */
        post: operations["post_api_v1_runs_delete_traces"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delete traces by id, or by metadata of their runs */
        post: operations["post_api_v1_runs_delete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the share token of a run's trace; null if it is not shared */
        get: operations["get_api_v1_runs_run_id_share"];
        /** Share the trace of a run by a public link */
        put: operations["put_api_v1_runs_run_id_share"];
        post?: never;
        /** Stop sharing the trace of a run */
        delete: operations["delete_api_v1_runs_run_id_share"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{run_id}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Share the trace of a run by a public link */
        post: operations["post_api_v2_runs_run_id_share"];
        /** Stop sharing a trace, by its id or the id of any of its runs; 204 also if it was not shared */
        delete: operations["delete_api_v2_runs_run_id_share"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the root run of a shared trace */
        get: operations["get_api_v1_public_share_token_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/run/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a run of a shared trace */
        get: operations["get_api_v1_public_share_token_run_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/runs/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List the runs of a shared trace */
        post: operations["post_api_v1_public_share_token_runs_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of a shared trace as an array */
        get: operations["get_api_v1_public_share_token_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/{query}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of a shared trace as an array */
        get: operations["get_api_v1_public_share_token_query_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/feedbacks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List feedback on the runs of a shared trace */
        get: operations["get_api_v1_public_share_token_feedbacks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/public/{share_token}/runs/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List the runs of a shared trace */
        post: operations["post_api_v2_public_share_token_runs_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/public/{share_token}/run/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a run of a shared trace */
        get: operations["get_api_v2_public_share_token_run_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List projects */
        get: operations["get_api_v1_sessions"];
        put?: never;
        /** Create a project, or update the one with this name */
        post: operations["post_api_v1_sessions"];
        /** Delete projects with all their runs */
        delete: operations["delete_api_v1_sessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a project */
        get: operations["get_api_v1_sessions_session_id"];
        put?: never;
        post?: never;
        /** Delete a project with all its runs */
        delete: operations["delete_api_v1_sessions_session_id"];
        options?: never;
        head?: never;
        /** Update a project; null leaves a field unchanged, but clears retention_days */
        patch: operations["patch_api_v1_sessions_session_id"];
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/metadata": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the most frequent metadata values of a project's runs */
        get: operations["get_api_v1_sessions_session_id_metadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attachments/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an attachment's content by the signed link in its run */
        get: operations["get_api_v1_attachments_token"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/feedback/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the feedback tokens issued for a run */
        get: operations["get_api_v1_feedback_tokens"];
        put?: never;
        /** Issue one pre-signed feedback token, or several */
        post: operations["post_api_v1_feedback_tokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/feedback/tokens/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Submit feedback by a link */
        get: operations["get_api_v1_feedback_tokens_token"];
        put?: never;
        /** Submit feedback by a token */
        post: operations["post_api_v1_feedback_tokens_token"];
        /** Revoke a feedback token; its later uses get 410 */
        delete: operations["delete_api_v1_feedback_tokens_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/feedback/formulas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Gone */
        get: operations["get_api_v1_feedback_formulas"];
        put?: never;
        /** Gone */
        post: operations["post_api_v1_feedback_formulas"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List feedback, newest first */
        get: operations["get_api_v1_feedback"];
        put?: never;
        /** Create feedback on a run or a project; the run may arrive later */
        post: operations["post_api_v1_feedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/feedback/{feedback_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get feedback */
        get: operations["get_api_v1_feedback_feedback_id"];
        put?: never;
        post?: never;
        /** Delete feedback */
        delete: operations["delete_api_v1_feedback_feedback_id"];
        options?: never;
        head?: never;
        /** Update feedback */
        patch: operations["patch_api_v1_feedback_feedback_id"];
        trace?: never;
    };
    "/api/v1/feedback-configs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List feedback configurations */
        get: operations["get_api_v1_feedback_configs"];
        put?: never;
        /** Create a feedback configuration; returns an identical existing one, rejects a different one for the key */
        post: operations["post_api_v1_feedback_configs"];
        /** Delete a feedback configuration; the feedback stays */
        delete: operations["delete_api_v1_feedback_configs"];
        options?: never;
        head?: never;
        /** Update a feedback configuration */
        patch: operations["patch_api_v1_feedback_configs"];
        trace?: never;
    };
    "/api/v1/datasets/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a dataset from a CSV or JSON Lines file */
        post: operations["post_api_v1_datasets_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/examples/upload/{dataset_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add the rows of a CSV or JSON Lines file to a dataset */
        post: operations["post_api_v1_examples_upload_dataset_id"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a dataset as CSV, with one column per key of inputs and outputs */
        get: operations["get_api_v1_datasets_dataset_id_csv"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/jsonl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a dataset as JSON Lines */
        get: operations["get_api_v1_datasets_dataset_id_jsonl"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/openai": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a dataset in OpenAI's Evals format */
        get: operations["get_api_v1_datasets_dataset_id_openai"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/openai_ft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a dataset of chat messages in OpenAI's fine-tuning format */
        get: operations["get_api_v1_datasets_dataset_id_openai_ft"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/clone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Copy examples from one dataset into another, as one version */
        post: operations["post_api_v1_datasets_clone"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/examples/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Check whether an example would be accepted, without writing it */
        post: operations["post_api_v1_examples_validate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/examples/validate/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Check whether examples would be accepted, without writing them */
        post: operations["post_api_v1_examples_validate_bulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/comparative": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a comparison of experiments */
        post: operations["post_api_v1_datasets_comparative"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/comparative": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the comparisons of a dataset's experiments */
        get: operations["get_api_v1_datasets_dataset_id_comparative"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/comparative/{comparative_experiment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a comparison; its feedback stays */
        delete: operations["delete_api_v1_datasets_comparative_comparative_experiment_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List datasets */
        get: operations["get_api_v1_datasets"];
        put?: never;
        /** Create a dataset */
        post: operations["post_api_v1_datasets"];
        /** Delete several datasets with all versions of their examples */
        delete: operations["delete_api_v1_datasets"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a dataset */
        get: operations["get_api_v1_datasets_dataset_id"];
        put?: never;
        post?: never;
        /** Delete a dataset with all versions of its examples; its experiments stay */
        delete: operations["delete_api_v1_datasets_dataset_id"];
        options?: never;
        head?: never;
        /** Update a dataset */
        patch: operations["patch_api_v1_datasets_dataset_id"];
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a dataset's versions, newest first */
        get: operations["get_api_v1_datasets_dataset_id_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/versions/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compare two versions */
        get: operations["get_api_v1_datasets_dataset_id_versions_diff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the version at a time, before a time, or with a tag */
        get: operations["get_api_v1_datasets_dataset_id_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Tag a version; the tag moves from its previous version */
        put: operations["put_api_v1_datasets_dataset_id_tags"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/splits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the splits of a dataset */
        get: operations["get_api_v1_datasets_dataset_id_splits"];
        /** Add examples to a split, or remove them */
        put: operations["put_api_v1_datasets_dataset_id_splits"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get whether a dataset is shared */
        get: operations["get_api_v1_datasets_dataset_id_share"];
        /** Share a dataset by a public link */
        put: operations["put_api_v1_datasets_dataset_id_share"];
        post?: never;
        /** Stop sharing a dataset; its link becomes invalid */
        delete: operations["delete_api_v1_datasets_dataset_id_share"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/datasets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the shared dataset */
        get: operations["get_api_v1_public_share_token_datasets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/datasets/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List experiments on the shared dataset, with their statistics */
        get: operations["get_api_v1_public_share_token_datasets_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/examples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List examples of the shared dataset */
        get: operations["get_api_v1_public_share_token_examples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/public/{share_token}/examples/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count examples of the shared dataset */
        get: operations["get_api_v1_public_share_token_examples_count"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List examples with their runs in experiments and the feedback on these runs */
        post: operations["post_api_v1_datasets_dataset_id_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/datasets/{dataset_id}/experiment-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List examples with selected properties of their runs in experiments */
        post: operations["post_api_v2_datasets_dataset_id_experiment_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/platform/datasets/{dataset_id}/examples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create examples with files, as one version */
        post: operations["post_v1_platform_datasets_dataset_id_examples"];
        delete?: never;
        options?: never;
        head?: never;
        /** Update examples and their files, as one version */
        patch: operations["patch_v1_platform_datasets_dataset_id_examples"];
        trace?: never;
    };
    "/v1/platform/datasets/examples/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delete examples; with hard_delete permanently, including all versions and files */
        post: operations["post_v1_platform_datasets_examples_delete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/examples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List examples */
        get: operations["get_api_v1_examples"];
        put?: never;
        /** Create an example */
        post: operations["post_api_v1_examples"];
        /** Delete several examples; earlier versions of their datasets keep them */
        delete: operations["delete_api_v1_examples"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/examples/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create several examples of one dataset, as one version */
        post: operations["post_api_v1_examples_bulk"];
        delete?: never;
        options?: never;
        head?: never;
        /** Update several examples of one dataset, as one version */
        patch: operations["patch_api_v1_examples_bulk"];
        trace?: never;
    };
    "/api/v1/examples/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count examples */
        get: operations["get_api_v1_examples_count"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/examples/{example_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an example, now or as of a version */
        get: operations["get_api_v1_examples_example_id"];
        put?: never;
        post?: never;
        /** Delete an example; earlier versions of its dataset keep it */
        delete: operations["delete_api_v1_examples_example_id"];
        options?: never;
        head?: never;
        /** Update an example */
        patch: operations["patch_api_v1_examples_example_id"];
        trace?: never;
    };
    "/api/v1/bulk-exports/destinations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List export destinations */
        get: operations["get_api_v1_bulk_exports_destinations"];
        put?: never;
        /** Create an export destination, after a test write to it */
        post: operations["post_api_v1_bulk_exports_destinations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk-exports/destinations/{destination_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an export destination */
        get: operations["get_api_v1_bulk_exports_destinations_destination_id"];
        put?: never;
        post?: never;
        /** Delete an export destination that no export refers to, and its credentials */
        delete: operations["delete_api_v1_bulk_exports_destinations_destination_id"];
        options?: never;
        head?: never;
        /** Replace an export destination's credentials, after a test write with the new ones */
        patch: operations["patch_api_v1_bulk_exports_destinations_destination_id"];
        trace?: never;
    };
    "/api/v1/bulk-exports/destinations/{destination_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Write a test object to an export destination with its stored credentials */
        post: operations["post_api_v1_bulk_exports_destinations_destination_id_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk-exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List exports, newest first */
        get: operations["get_api_v1_bulk_exports"];
        put?: never;
        /** Export runs once, or on a schedule */
        post: operations["post_api_v1_bulk_exports"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk-exports/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of all exports that a schedule created */
        get: operations["get_api_v1_bulk_exports_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk-exports/{bulk_export_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an export and its progress */
        get: operations["get_api_v1_bulk_exports_bulk_export_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Cancel an export; exports that a schedule has already created continue */
        patch: operations["patch_api_v1_bulk_exports_bulk_export_id"];
        trace?: never;
    };
    "/api/v1/bulk-exports/{bulk_export_id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of an export, one per day of its window */
        get: operations["get_api_v1_bulk_exports_bulk_export_id_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk-exports/{bulk_export_id}/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a run of an export */
        get: operations["get_api_v1_bulk_exports_bulk_export_id_runs_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the name and handle of the workspace */
        get: operations["get_api_v1_settings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rate-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the active rate limits, and the caller's usage of each */
        get: operations["get_api_v1_rate_limits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/filter-language": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the guide: The filter language */
        get: operations["get_docs_filter_language"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/tracing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the guide: Tracing of graph runs */
        get: operations["get_docs_tracing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/bulk-export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the guide: Bulk export */
        get: operations["get_docs_bulk_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/export-permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the guide: Permissions of export destinations */
        get: operations["get_docs_export_permissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the guide: Versions of the hosted service */
        get: operations["get_docs_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-key/current": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the caller's personal keys */
        get: operations["get_api_v1_api_key_current"];
        put?: never;
        /** Create a personal key */
        post: operations["post_api_v1_api_key_current"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-key/current/{pat_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke one of the caller's personal keys */
        delete: operations["delete_api_v1_api_key_current_pat_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/personal-access-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the caller's personal keys */
        get: operations["get_api_v1_orgs_current_personal_access_tokens"];
        put?: never;
        /** Create a personal key */
        post: operations["post_api_v1_orgs_current_personal_access_tokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/personal-access-tokens/{pat_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke one of the caller's personal keys */
        delete: operations["delete_api_v1_orgs_current_personal_access_tokens_pat_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List service keys to the current workspace */
        get: operations["get_api_v1_api_key"];
        put?: never;
        /** Create a service key to the current workspace */
        post: operations["post_api_v1_api_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-key/{api_key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a service key to the current workspace */
        delete: operations["delete_api_v1_api_key_api_key_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/service-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all service keys of the organization */
        get: operations["get_api_v1_orgs_current_service_keys"];
        put?: never;
        /** Create a service key to some or all workspaces */
        post: operations["post_api_v1_orgs_current_service_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/service-keys/{api_key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a service key of the organization */
        delete: operations["delete_api_v1_orgs_current_service_keys_api_key_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/internal/auth/self": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the workspace of the calling server's key */
        get: operations["get_internal_auth_self"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/internal/auth/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get the permissions of keys in the calling server's workspace */
        post: operations["post_internal_auth_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/internal/auth/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Wait until the permissions of keys may have changed */
        get: operations["get_internal_auth_changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the first 500 members and invitations of the organization */
        get: operations["get_api_v1_orgs_current_members"];
        put?: never;
        /** Invite a person; a user with an account becomes a member immediately */
        post: operations["post_api_v1_orgs_current_members"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/members/active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List members of the organization */
        get: operations["get_api_v1_orgs_current_members_active"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/members/pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List invitations to the organization */
        get: operations["get_api_v1_orgs_current_members_pending"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/members/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Invite up to 500 people */
        post: operations["post_api_v1_orgs_current_members_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/members/{identity_id}/pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Withdraw an invitation */
        delete: operations["delete_api_v1_orgs_current_members_identity_id_pending"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/members/{identity_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a member from the organization and revoke the member's personal keys */
        delete: operations["delete_api_v1_orgs_current_members_identity_id"];
        options?: never;
        head?: never;
        /** Change a member's role or name */
        patch: operations["patch_api_v1_orgs_current_members_identity_id"];
        trace?: never;
    };
    "/api/v1/workspaces/current/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the first 500 members and invitations of the workspace */
        get: operations["get_api_v1_workspaces_current_members"];
        put?: never;
        /** Add a member of the organization to the workspace */
        post: operations["post_api_v1_workspaces_current_members"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/current/members/active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List members of the workspace */
        get: operations["get_api_v1_workspaces_current_members_active"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/current/members/pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List invitations to the workspace */
        get: operations["get_api_v1_workspaces_current_members_pending"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/current/members/{identity_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a member from the workspace */
        delete: operations["delete_api_v1_workspaces_current_members_identity_id"];
        options?: never;
        head?: never;
        /** Change a member's role in the workspace */
        patch: operations["patch_api_v1_workspaces_current_members_identity_id"];
        trace?: never;
    };
    "/api/v1/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the workspaces of the organization that the caller has access to */
        get: operations["get_api_v1_workspaces"];
        put?: never;
        /** Create a workspace */
        post: operations["post_api_v1_workspaces"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all workspaces that the caller has access to */
        get: operations["get_api_v1_tenants"];
        put?: never;
        /** Create a workspace */
        post: operations["post_api_v1_tenants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspace_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a workspace and end all access to it */
        delete: operations["delete_api_v1_workspaces_workspace_id"];
        options?: never;
        head?: never;
        /** Rename a workspace, or change its plan */
        patch: operations["patch_api_v1_workspaces_workspace_id"];
        trace?: never;
    };
    "/api/v1/orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the caller's organizations */
        get: operations["get_api_v1_orgs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the caller's organization */
        get: operations["get_api_v1_orgs_current"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the caller's organization without billing data */
        get: operations["get_api_v1_orgs_current_info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Rename the organization */
        patch: operations["patch_api_v1_orgs_current_info"];
        trace?: never;
    };
    "/auth/public": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the caller's identity */
        get: operations["get_auth_public"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the permissions that a role can contain */
        get: operations["get_api_v1_orgs_permissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the built-in roles and the organization's own */
        get: operations["get_api_v1_orgs_current_roles"];
        put?: never;
        /** Create a role */
        post: operations["post_api_v1_orgs_current_roles"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orgs/current/roles/{role_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete an unused role */
        delete: operations["delete_api_v1_orgs_current_roles_role_id"];
        options?: never;
        head?: never;
        /** Change a role for all its holders */
        patch: operations["patch_api_v1_orgs_current_roles_role_id"];
        trace?: never;
    };
    "/api/v1/audit-logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List changes, newest first, as OCSF API Activity events */
        get: operations["get_api_v1_audit_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit-logs/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export the audit log, oldest first, as JSON lines or CSV */
        get: operations["get_api_v1_audit_logs_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign in with e-mail address and password, in the body or as HTTP Basic */
        post: operations["post_api_v1_login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign out: end this session, or all sessions of the user */
        post: operations["post_api_v1_logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change the caller's password and end the caller's other sessions */
        post: operations["post_api_v1_auth_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sign-in-methods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the available sign-in methods */
        get: operations["get_api_v1_auth_sign_in_methods"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Redirect the browser to the identity provider to sign in */
        get: operations["get_auth_oidc_login"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Complete a sign-in at the identity provider */
        get: operations["get_auth_oidc_callback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ok": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check liveness: fails when a component has failed for longer than the grace period; with check_db, also checks the stores */
        get: operations["get_api_v1_ok"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check readiness: the server and all its dependencies */
        get: operations["get_api_v1_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/info/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check the health of the server and its stores */
        get: operations["get_api_v1_info_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the version and capabilities of this server */
        get: operations["get_api_v1_info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["get_openapi_json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the OpenAPI document as a page */
        get: operations["get_docs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get metrics for monitoring */
        get: operations["get_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the server's name, version and links */
        get: operations["get_"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ModelPrice: {
            id: string;
            tenant_id: string | null;
            name: string;
            start_time: string | null;
            match_path: string[];
            match_pattern: string;
            provider: string | null;
            prompt_cost: string;
            completion_cost: string;
            prompt_cost_details: {
                [key: string]: string | number;
            } | null;
            completion_cost_details: {
                [key: string]: string | number;
            } | null;
        };
        FeedbackToken: {
            /** Format: uuid */
            id: string;
            url: string;
            /** Format: date-time */
            expires_at: string;
            feedback_key: string;
        };
        FeedbackTokenCreate: {
            /** Format: uuid */
            run_id: string;
            feedback_key: string;
            expires_in?: {
                days?: number | null;
                hours?: number | null;
                minutes?: number | null;
            } | null;
            expires_at?: (string | number) | null;
            feedback_config?: components["schemas"]["FeedbackConfig"] | null;
        };
        FeedbackConfig: {
            /** @enum {string} */
            type: "continuous" | "categorical" | "freeform";
            min?: number | null;
            max?: number | null;
            categories?: {
                value: number;
                label?: string | null;
            }[] | null;
        };
        FeedbackSubmission: {
            score?: number | boolean | null;
            /** @default null */
            value: (number | boolean | string | {
                [key: string]: unknown;
            } | unknown[]) | null;
            /** @default null */
            comment: string | null;
            /** @default null */
            correction: ({
                [key: string]: unknown;
            } | string) | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        Feedback: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            modified_at: string;
            key: string;
            score: number | null;
            value: unknown;
            comment: string | null;
            correction: ({
                [key: string]: unknown;
            } | string) | null;
            run_id: string | null;
            session_id: string | null;
            trace_id: string | null;
            start_time: string | null;
            is_root: boolean;
            feedback_source: {
                /** @enum {string} */
                type: "api" | "app" | "model" | "auto_eval";
                metadata: {
                    [key: string]: unknown;
                } | null;
                user_id: string | null;
                ls_user_id: string | null;
                user_name: string | null;
            };
            comparative_experiment_id: string | null;
            feedback_group_id: string | null;
            extra: {
                [key: string]: unknown;
            } | null;
            feedback_thread_id: string | null;
        };
        FeedbackCreate: {
            id?: string | null;
            key: string;
            run_id?: string | null;
            session_id?: string | null;
            trace_id?: string | null;
            start_time?: (string | number) | null;
            score?: number | boolean | null;
            /** @default null */
            value: (number | boolean | string | {
                [key: string]: unknown;
            } | unknown[]) | null;
            /** @default null */
            comment: string | null;
            /** @default null */
            correction: ({
                [key: string]: unknown;
            } | string) | null;
            feedback_source?: {
                /**
                 * @default api
                 * @enum {string}
                 */
                type: "api" | "app" | "model" | "auto_eval";
                metadata?: {
                    [key: string]: unknown;
                } | null;
            } | null;
            feedback_config?: components["schemas"]["FeedbackConfig"] | null;
            feedbackConfig?: components["schemas"]["FeedbackConfig"] | null;
            comparative_experiment_id?: string | null;
            feedback_group_id?: string | null;
            error?: boolean | null;
            extra?: {
                [key: string]: unknown;
            } | null;
            extend_trace_retention?: boolean | null;
            agent_id?: null;
            agent_environment?: null;
            created_at?: (string | number) | null;
            modified_at?: (string | number) | null;
        };
        FeedbackUpdate: {
            score?: number | boolean | null;
            value?: (number | boolean | string | {
                [key: string]: unknown;
            } | unknown[]) | null;
            comment?: string | null;
            correction?: ({
                [key: string]: unknown;
            } | string) | null;
            feedback_config?: components["schemas"]["FeedbackConfig"] | null;
        };
        FeedbackConfigRecord: {
            feedback_key: string;
            feedback_config: components["schemas"]["FeedbackConfig"];
            /** Format: uuid */
            tenant_id: string;
            /** Format: date-time */
            modified_at: string;
            is_lower_score_better: boolean | null;
        };
        FeedbackConfigCreate: {
            feedback_key: string;
            feedback_config: components["schemas"]["FeedbackConfig"];
            /** @default false */
            is_lower_score_better: boolean | null;
        };
        FeedbackConfigUpdate: {
            feedback_key: string;
            feedback_config?: components["schemas"]["FeedbackConfig"] | null;
            is_lower_score_better?: boolean | null;
        };
        Dataset: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            tenant_id: string;
            name: string;
            description: string | null;
            /** @enum {string} */
            data_type: "kv" | "llm" | "chat";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            modified_at: string;
            example_count?: number;
            session_count: number;
            last_session_start_time: string | null;
            inputs_schema_definition: {
                [key: string]: unknown;
            } | null;
            outputs_schema_definition: {
                [key: string]: unknown;
            } | null;
            externally_managed: boolean;
            transformations: {
                [key: string]: unknown;
            }[] | null;
            metadata: {
                [key: string]: unknown;
            } | null;
            baseline_experiment_id: string | null;
        };
        DatasetClone: {
            /** Format: uuid */
            source_dataset_id: string;
            /** Format: uuid */
            target_dataset_id: string;
            as_of?: string | null;
            /** @default [] */
            examples: string[];
            split?: (string[] | string) | null;
        };
        ExampleCandidate: {
            dataset_id?: string | null;
            id?: string | null;
            inputs?: {
                [key: string]: unknown;
            } | null;
            outputs?: {
                [key: string]: unknown;
            } | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            created_at?: (unknown | unknown) | null;
            source_run_id?: string | null;
            split: unknown;
            /** @default false */
            use_source_run_io: boolean;
            /** @default false */
            overwrite: boolean;
        };
        ComparativeExperiment: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            tenant_id: string;
            name: string | null;
            description: string | null;
            /** Format: uuid */
            reference_dataset_id: string;
            extra: {
                [key: string]: unknown;
            } | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            modified_at: string;
        };
        ComparativeExperimentCreate: {
            id?: string | null;
            experiment_ids: string[];
            reference_dataset_id?: string | null;
            name?: string | null;
            description?: string | null;
            created_at?: (string | number) | null;
            extra?: {
                [key: string]: unknown;
            } | null;
        };
        ComparativeExperimentListed: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            tenant_id: string;
            name: string | null;
            description: string | null;
            /** Format: uuid */
            reference_dataset_id: string;
            extra: {
                [key: string]: unknown;
            } | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            modified_at: string;
            experiments_info: {
                /** Format: uuid */
                id: string;
                name: string;
            }[];
            feedback_stats: {
                [key: string]: unknown;
            } | null;
        };
        DatasetCreate: {
            id?: string | null;
            name: string;
            description?: string | null;
            data_type?: ("kv" | "llm" | "chat") | null;
            created_at?: (string | number) | null;
            inputs_schema_definition?: {
                [key: string]: unknown;
            } | null;
            outputs_schema_definition?: {
                [key: string]: unknown;
            } | null;
            extra?: ({
                metadata?: {
                    [key: string]: unknown;
                } | null;
            } & {
                [key: string]: unknown;
            }) | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            externally_managed?: boolean | null;
            tag_value_ids?: unknown[] | null;
            transformations?: unknown[] | null;
        };
        DatasetUpdate: {
            name?: string | {
                __missing__: string;
            };
            description?: (string | null) | {
                __missing__: string;
            };
            inputs_schema_definition?: {
                __missing__: string;
            } | {
                [key: string]: unknown;
            } | null;
            outputs_schema_definition?: {
                __missing__: string;
            } | {
                [key: string]: unknown;
            } | null;
            metadata?: {
                __missing__: string;
            } | {
                [key: string]: unknown;
            } | null;
            baseline_experiment_id?: string | {
                __missing__: string;
            } | null;
            transformations?: {
                __missing__: string;
            } | (unknown[] | null);
            patch_examples?: null;
        };
        DatasetVersion: {
            /** Format: date-time */
            as_of: string;
            tags: string[];
        };
        DatasetShare: {
            /** Format: uuid */
            dataset_id: string;
            /** Format: uuid */
            share_token: string;
        };
        Example: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            dataset_id: string;
            name: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            modified_at: string;
            inputs: {
                [key: string]: unknown;
            };
            outputs?: {
                [key: string]: unknown;
            } | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            source_run_id: string | null;
            attachment_urls?: {
                [key: string]: {
                    presigned_url: string;
                    mime_type: string;
                };
            } | null;
        };
        ExampleWithRuns: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            dataset_id: string;
            name: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            modified_at: string;
            inputs: {
                [key: string]: unknown;
            };
            outputs?: {
                [key: string]: unknown;
            } | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            source_run_id: string | null;
            attachment_urls?: {
                [key: string]: {
                    presigned_url: string;
                    mime_type: string;
                };
            } | null;
            runs: ({
                /** Format: uuid */
                id: string;
                name: string;
                run_type: string;
                start_time: string;
                /** Format: uuid */
                trace_id: string;
                dotted_order: string;
                status: string;
                /** Format: uuid */
                session_id: string;
                app_path: string;
                end_time?: string | null;
                error?: string | null;
                extra?: unknown;
                events?: unknown;
                inputs?: unknown;
                outputs?: unknown;
                serialized?: unknown;
                inputs_preview?: string | null;
                outputs_preview?: string | null;
                parent_run_id?: string | null;
                parent_run_ids?: string[];
                child_run_ids?: string[];
                direct_child_run_ids?: string[];
                thread_id?: string | null;
                tags?: string[];
                reference_example_id?: string | null;
                reference_dataset_id?: string | null;
                total_tokens?: number;
                prompt_tokens?: number;
                completion_tokens?: number;
                prompt_token_details?: {
                    [key: string]: unknown;
                } | null;
                completion_token_details?: {
                    [key: string]: unknown;
                } | null;
                total_cost?: string | null;
                prompt_cost?: string | null;
                completion_cost?: string | null;
                prompt_cost_details?: {
                    [key: string]: unknown;
                } | null;
                completion_cost_details?: {
                    [key: string]: unknown;
                } | null;
                first_token_time?: string | null;
                feedback_stats?: {
                    [key: string]: unknown;
                } | null;
                in_dataset?: boolean;
                share_token?: string | null;
                /** @enum {string} */
                trace_tier?: "longlived" | "shortlived";
                trace_first_received_at?: string | null;
                ttl_seconds?: number | null;
                s3_urls?: {
                    [key: string]: unknown;
                } | null;
                inputs_s3_urls?: null;
                outputs_s3_urls?: null;
                manifest?: unknown;
                manifest_id?: unknown;
                manifest_s3_id?: unknown;
                messages?: unknown;
                price_model_id?: string | null;
                last_queued_at?: null;
                inserted_at?: string | null;
                trace_min_start_time?: string | null;
                trace_max_start_time?: string | null;
                trace_upgrade?: boolean;
                execution_order?: number;
                feedbacks: components["schemas"]["Feedback"][];
            } & {
                [key: string]: unknown;
            })[];
        };
        ExperimentRunsQuery: {
            session_ids: string[];
            example_ids?: string[] | null;
            filters?: {
                [key: string]: string[];
            } | null;
            comparative_experiment_id?: string | null;
            /** @default false */
            preview: boolean;
            limit?: number | null;
            offset?: number | null;
            sort_params?: null;
            include_annotator_detail?: false | null;
        };
        ExperimentRunsQueryV2: {
            experiment_ids: string[];
            example_ids?: string[] | null;
            filters?: {
                [key: string]: string[];
            } | null;
            comparative_experiment_id?: null;
            sort?: null;
            selects?: ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS")[] | null;
            cursor?: string | null;
            page_size?: number | null;
        };
        ExamplesDelete: {
            example_ids: string[];
            /** @default false */
            hard_delete: boolean;
        };
        ExampleCreate: {
            /** Format: uuid */
            dataset_id: string;
            id?: string | null;
            inputs?: {
                [key: string]: unknown;
            } | null;
            outputs?: {
                [key: string]: unknown;
            } | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            split?: (string[] | string) | null;
            source_run_id?: string | null;
            use_source_run_io?: boolean | null;
            use_source_run_attachments?: string[] | null;
            created_at?: (string | number) | null;
            use_legacy_message_format?: false | null;
        };
        ExampleUpdate: {
            dataset_id?: string | null;
            inputs?: {
                [key: string]: unknown;
            } | null;
            outputs?: {
                [key: string]: unknown;
            } | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            split?: (string[] | string) | null;
            attachments_operations?: {
                rename?: {
                    [key: string]: string;
                } | null;
                retain?: string[] | null;
            } | null;
            overwrite?: false | null;
        };
        BulkExportDestination: {
            /** @constant */
            destination_type: "s3";
            display_name: string;
            config: {
                bucket_name: string | null;
                prefix: string;
                region: string | null;
                endpoint_url: string | null;
                include_bucket_in_prefix: boolean;
                s3_additional_kwargs?: {
                    [key: string]: unknown;
                } | null;
                config_kwargs_s3?: {
                    [key: string]: unknown;
                } | null;
            };
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            tenant_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            credentials_keys: string[];
        };
        BulkExportDestinationCreate: {
            /**
             * @default s3
             * @constant
             */
            destination_type: "s3";
            display_name: string;
            config: components["schemas"]["BulkExportDestinationS3Config"];
            credentials?: components["schemas"]["BulkExportDestinationS3Credentials"] | null;
        };
        BulkExportDestinationS3Config: {
            bucket_name?: string | null;
            prefix?: string;
            region?: string | null;
            endpoint_url?: string | null;
            /** @default true */
            include_bucket_in_prefix: boolean;
            s3_additional_kwargs?: {
                ACL?: string;
                BucketKeyEnabled?: boolean;
                CacheControl?: string;
                ExpectedBucketOwner?: string;
                RequestPayer?: string;
                ServerSideEncryption?: string;
                SSEKMSEncryptionContext?: string;
                SSEKMSKeyId?: string;
                StorageClass?: string;
                Tagging?: string;
            } | null;
            config_kwargs_s3?: {
                addressing_style?: ("auto" | "virtual" | "path") | null;
                use_accelerate_endpoint?: boolean | null;
                payload_signing_enabled?: true | null;
                us_east_1_regional_endpoint?: "regional" | null;
            } | null;
            aws_role_arn?: null;
        };
        BulkExportDestinationS3Credentials: {
            access_key_id: string;
            secret_access_key: string;
            session_token?: string | null;
        };
        BulkExportDestinationUpdate: {
            credentials: components["schemas"]["BulkExportDestinationS3Credentials"];
        };
        WorkspaceSettings: {
            /** Format: uuid */
            id: string;
            display_name: string;
            /** Format: date-time */
            created_at: string;
            tenant_handle: string | null;
        };
        RateLimits: {
            /** @enum {string} */
            mode: "on" | "off" | "dry-run";
            rows: components["schemas"]["RateLimit"][];
        };
        RateLimit: {
            row: string;
            category: string;
            /**
             * @description What requests are counted by
             * @enum {string}
             */
            identity: "key" | "user" | "ip";
            /** @description Number of requests allowed in a window */
            count: number;
            /** @description Length of the window */
            seconds: number;
            /** @description Requests left in the caller's current window; null if the caller is not counted by this */
            used: number | null;
            /** @description Seconds until the window ends */
            reset_seconds: number | null;
        };
        ApiKey: {
            /** Format: uuid */
            id: string;
            short_key: string;
            description: string;
            read_only: boolean;
            created_at: string | null;
            last_used_at: string | null;
            expires_at: string | null;
            workspace_names: string[] | null;
            default_workspace_name: string | null;
        };
        NewApiKey: {
            /** Format: uuid */
            id: string;
            short_key: string;
            description: string;
            read_only: boolean;
            created_at: string | null;
            last_used_at: string | null;
            expires_at: string | null;
            workspace_names: string[] | null;
            default_workspace_name: string | null;
            /** @description Shown only once */
            key: string;
        };
        OrganizationMember: {
            /**
             * Format: uuid
             * @description Id of the membership
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            tenant_id: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            user_id: string;
            /** Format: uuid */
            ls_user_id: string;
            read_only: boolean;
            email: string;
            full_name: string | null;
            display_name: string;
            is_disabled: boolean;
            role_id: string | null;
            role_name: string | null;
            /** @enum {string} */
            access_scope: "organization" | "workspace";
            org_role_id: string | null;
            org_role_name: string | null;
            tenant_ids: string[];
        };
        PendingMember: {
            /**
             * Format: uuid
             * @description Id of the invitation, or of the membership if the user has an account
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            tenant_id: string | null;
            user_id: string | null;
            email: string;
            full_name: string | null;
            read_only: boolean;
            /** Format: date-time */
            created_at: string;
            workspace_ids: string[];
            workspace_role_id: string | null;
            role_id: string | null;
            role_name: string | null;
            /** @enum {string} */
            access_scope: "organization" | "workspace";
            org_role_id: string | null;
            org_role_name: string | null;
            tenant_ids: string[];
        };
        WorkspaceMember: {
            /**
             * Format: uuid
             * @description Id of the membership
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            tenant_id: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            user_id: string;
            /** Format: uuid */
            ls_user_id: string;
            read_only: boolean;
            email: string;
            full_name: string | null;
            display_name: string;
            is_disabled: boolean;
            role_id: string | null;
            role_name: string | null;
            /** @enum {string} */
            access_scope: "organization" | "workspace";
            org_role_id: string | null;
            org_role_name: string | null;
        };
        VisibleWorkspace: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            organization_id: string;
            display_name: string;
            tenant_handle: string | null;
            /** Format: date-time */
            created_at: string;
            is_personal: boolean;
            is_deleted: boolean;
            /** @enum {string} */
            plan: "developer" | "plus" | "enterprise";
            read_only: boolean;
            role_id: string | null;
            role_name: string;
            permissions: string[];
        };
        Workspace: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            organization_id: string;
            display_name: string;
            tenant_handle: string | null;
            /** Format: date-time */
            created_at: string;
            is_personal: boolean;
            is_deleted: boolean;
            /** @enum {string} */
            plan: "developer" | "plus" | "enterprise";
        };
        OrganizationSummary: {
            /** Format: uuid */
            id: string;
            display_name: string;
            /** @enum {string} */
            tier: "developer" | "plus" | "enterprise";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            modified_at: string;
            is_personal: boolean;
            disabled: boolean;
        };
        Organization: {
            /** Format: uuid */
            id: string;
            display_name: string;
            config: components["schemas"]["OrganizationConfig"];
            is_personal: boolean;
            /** @enum {string} */
            tier: "developer" | "plus" | "enterprise";
            reached_max_workspaces: boolean;
            /** @description The caller's permissions in the organization */
            permissions: string[];
            connected_to_stripe: boolean;
            connected_to_metronome: boolean;
            has_cancelled: boolean;
        };
        OrganizationConfig: {
            /** @enum {string} */
            plan_tier: "developer" | "plus" | "enterprise";
            max_identities: number;
            max_workspaces: number;
            can_use_rbac: boolean;
            can_use_audit_logs: boolean;
            can_use_bulk_export: boolean;
        };
        OrganizationInfo: {
            /** Format: uuid */
            id: string;
            display_name: string;
            config: components["schemas"]["OrganizationConfig"];
            is_personal: boolean;
            /** @enum {string} */
            tier: "developer" | "plus" | "enterprise";
            reached_max_workspaces: boolean;
            /** @description The caller's permissions in the organization */
            permissions: string[];
        };
        PublicAuthInfo: {
            user_id: string;
            ls_user_id: string;
            user_email: string;
            tenant_id: string;
            organization_id: string;
        };
        Role: {
            /** Format: uuid */
            id: string;
            name: string;
            display_name: string;
            description: string;
            organization_id: string | null;
            permissions: string[];
            /** @enum {string} */
            access_scope: "organization" | "workspace";
        };
        ListAuditLogsOCSFResponse: {
            cursor: string | null;
            items: components["schemas"]["OCSFApiActivity"][];
        };
        OCSFApiActivity: {
            /** @constant */
            class_uid: 6003;
            /** @constant */
            class_name: "API Activity";
            /** @constant */
            category_uid: 6;
            /** @constant */
            category_name: "Application Activity";
            /** @constant */
            severity_id: 99;
            type_uid: number;
            activity_id: number;
            activity_name: string;
            status_id: number;
            status: string;
            /** @description Milliseconds since 1970 */
            time: number;
            metadata: {
                /** Format: uuid */
                uid: string;
                product: {
                    name: string;
                    vendor_name: string;
                };
            };
            api: {
                operation: string;
            };
            http_request: {
                http_method: string;
                url: {
                    path: string;
                };
            };
            http_response: {
                code: number | null;
            };
            actor: {
                user: {
                    uid: string | null;
                    credential_uid: string | null;
                };
            };
            src_endpoint: {
                ip: string | null;
                port: number | null;
                intermediate_ips: string[] | null;
            };
            resources: {
                /** Format: uuid */
                uid: string;
            }[];
            unmapped: {
                original_audit_log: {
                    /** Format: uuid */
                    id: string;
                    operation_name: string;
                    operation_succeeded: boolean | null;
                    /** Format: date-time */
                    request_time: string;
                    api_key_id: string | null;
                    user_id: string | null;
                    ls_user_id: string | null;
                    organization_id: string | null;
                    workspace_id: string | null;
                    enrichments: {
                        request_method: string;
                        request_path: string;
                        client_host: string | null;
                        client_port: number | null;
                        x_forwarded_for: string | null;
                        response_status_code: number | null;
                        resource_ids: string[] | null;
                    };
                };
                actor_kind: string;
                actor_name: string;
                target: {
                    [key: string]: string;
                };
                /** @description Number of refused attempts that this line combines */
                occurrences: number;
                request_id: string | null;
            };
        };
        SignedIn: {
            access_token?: string;
            /** @description With `cookie`: value for the header `x-heddle-csrf` of each request that sends the session's cookie. */
            csrf_token?: string;
            /** @constant */
            token_type: "bearer";
            /** Format: date-time */
            expires_at: string;
        };
        SignIn: {
            email?: string;
            password?: string;
            /** @description For browsers: returns the token in a cookie that scripts cannot read, not in the response. */
            cookie?: boolean | null;
        };
    };
    responses: {
        /** @description The request is malformed or incomplete */
        Error400Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description No valid API key or session */
        Error401Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description The API key or session lacks the permission */
        Error403Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description The body exceeds the size limit */
        Error413Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description Unsupported content type or encoding */
        Error415Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description The request is well-formed but invalid */
        Error422Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description Rate limit exceeded; Retry-After gives the time to wait */
        Error429Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description The request line and headers exceed the size limit */
        Error431Platform: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The server or one of its dependencies is not ready; Retry-After gives the time to wait */
        Error503Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description The resource does not exist */
        Error404Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description No valid API key or session */
        Error401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The API key or session lacks the permission */
        Error403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The request line and headers exceed the size limit */
        Error431: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The server or one of its dependencies is not ready; Retry-After gives the time to wait */
        Error503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The request is malformed or incomplete */
        Error400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The body exceeds the size limit */
        Error413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The request is well-formed but invalid */
        Error422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The resource does not exist */
        Error404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The request is malformed or incomplete */
        Error400Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    type: string;
                    title: string;
                    status: number;
                    detail: string;
                    instance?: string;
                };
            };
        };
        /** @description No valid API key or session */
        Error401Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    type: string;
                    title: string;
                    status: number;
                    detail: string;
                    instance?: string;
                };
            };
        };
        /** @description The API key or session lacks the permission */
        Error403Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    type: string;
                    title: string;
                    status: number;
                    detail: string;
                    instance?: string;
                };
            };
        };
        /** @description The resource does not exist */
        Error404Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    type: string;
                    title: string;
                    status: number;
                    detail: string;
                    instance?: string;
                };
            };
        };
        /** @description The body exceeds the size limit */
        Error413Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    type: string;
                    title: string;
                    status: number;
                    detail: string;
                    instance?: string;
                };
            };
        };
        /** @description The request is well-formed but invalid */
        Error422Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    type: string;
                    title: string;
                    status: number;
                    detail: string;
                    instance?: string;
                };
            };
        };
        /** @description The request line and headers exceed the size limit */
        Error431Problem: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The server or one of its dependencies is not ready; Retry-After gives the time to wait */
        Error503Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    type: string;
                    title: string;
                    status: number;
                    detail: string;
                    instance?: string;
                };
            };
        };
        /** @description Conflict with an existing resource or a running operation */
        Error409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The resource is permanently gone */
        Error410: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description Unsupported content type or encoding */
        Error415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description Conflict with an existing resource or a running operation */
        Error409Platform: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: string;
                };
            };
        };
        /** @description Rate limit exceeded; Retry-After gives the time to wait */
        Error429: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description An upstream service failed */
        Error502: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    post_api_v1_runs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            400: components["responses"]["Error400Platform"];
            401: components["responses"]["Error401Platform"];
            403: components["responses"]["Error403Platform"];
            413: components["responses"]["Error413Platform"];
            415: components["responses"]["Error415Platform"];
            422: components["responses"]["Error422Platform"];
            429: components["responses"]["Error429Platform"];
            431: components["responses"]["Error431Platform"];
            503: components["responses"]["Error503Platform"];
        };
    };
    get_api_v1_runs_run_id: {
        parameters: {
            query?: {
                session_id?: string;
                start_time?: string;
                exclude_s3_stored_attributes?: "0" | "1" | "true" | "false" | "True" | "False";
                exclude_serialized?: "0" | "1" | "true" | "false" | "True" | "False";
                include_messages?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        run_type: string;
                        start_time: string;
                        /** Format: uuid */
                        trace_id: string;
                        dotted_order: string;
                        status: string;
                        /** Format: uuid */
                        session_id: string;
                        app_path: string;
                        end_time?: string | null;
                        error?: string | null;
                        extra?: unknown;
                        events?: unknown;
                        inputs?: unknown;
                        outputs?: unknown;
                        serialized?: unknown;
                        inputs_preview?: string | null;
                        outputs_preview?: string | null;
                        parent_run_id?: string | null;
                        parent_run_ids?: string[];
                        child_run_ids?: string[];
                        direct_child_run_ids?: string[];
                        thread_id?: string | null;
                        tags?: string[];
                        reference_example_id?: string | null;
                        reference_dataset_id?: string | null;
                        total_tokens?: number;
                        prompt_tokens?: number;
                        completion_tokens?: number;
                        prompt_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        total_cost?: string | null;
                        prompt_cost?: string | null;
                        completion_cost?: string | null;
                        prompt_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        first_token_time?: string | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        in_dataset?: boolean;
                        share_token?: string | null;
                        /** @enum {string} */
                        trace_tier?: "longlived" | "shortlived";
                        trace_first_received_at?: string | null;
                        ttl_seconds?: number | null;
                        s3_urls?: {
                            [key: string]: unknown;
                        } | null;
                        inputs_s3_urls?: null;
                        outputs_s3_urls?: null;
                        manifest?: unknown;
                        manifest_id?: unknown;
                        manifest_s3_id?: unknown;
                        messages?: unknown;
                        price_model_id?: string | null;
                        last_queued_at?: null;
                        inserted_at?: string | null;
                        trace_min_start_time?: string | null;
                        trace_max_start_time?: string | null;
                        trace_upgrade?: boolean;
                        execution_order?: number;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_runs_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            400: components["responses"]["Error400Platform"];
            401: components["responses"]["Error401Platform"];
            403: components["responses"]["Error403Platform"];
            404: components["responses"]["Error404Platform"];
            413: components["responses"]["Error413Platform"];
            415: components["responses"]["Error415Platform"];
            422: components["responses"]["Error422Platform"];
            429: components["responses"]["Error429Platform"];
            431: components["responses"]["Error431Platform"];
            503: components["responses"]["Error503Platform"];
        };
    };
    post_api_v1_runs_batch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            400: components["responses"]["Error400Platform"];
            401: components["responses"]["Error401Platform"];
            403: components["responses"]["Error403Platform"];
            413: components["responses"]["Error413Platform"];
            415: components["responses"]["Error415Platform"];
            422: components["responses"]["Error422Platform"];
            429: components["responses"]["Error429Platform"];
            431: components["responses"]["Error431Platform"];
            503: components["responses"]["Error503Platform"];
        };
    };
    post_api_v1_runs_multipart: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "multipart/form-data": unknown;
            };
        };
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            400: components["responses"]["Error400Platform"];
            401: components["responses"]["Error401Platform"];
            403: components["responses"]["Error403Platform"];
            413: components["responses"]["Error413Platform"];
            415: components["responses"]["Error415Platform"];
            422: components["responses"]["Error422Platform"];
            429: components["responses"]["Error429Platform"];
            431: components["responses"]["Error431Platform"];
            503: components["responses"]["Error503Platform"];
        };
    };
    post_otel_v1_traces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/x-protobuf": unknown;
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-protobuf": string;
                    "application/json": Record<string, never>;
                };
            };
            400: components["responses"]["Error400Platform"];
            401: components["responses"]["Error401Platform"];
            403: components["responses"]["Error403Platform"];
            413: components["responses"]["Error413Platform"];
            415: components["responses"]["Error415Platform"];
            422: components["responses"]["Error422Platform"];
            429: components["responses"]["Error429Platform"];
            431: components["responses"]["Error431Platform"];
            503: components["responses"]["Error503Platform"];
        };
    };
    get_api_v1_model_price_map: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelPrice"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_model_price_map: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    name: string;
                    start_time?: string | number | null;
                    /**
                     * @default [
                     *       "model",
                     *       "model_name",
                     *       "model_id",
                     *       "model_path",
                     *       "endpoint_name"
                     *     ]
                     */
                    match_path?: string[];
                    match_pattern: string;
                    provider?: string | null;
                    prompt_cost: string | number;
                    completion_cost: string | number;
                    prompt_cost_details?: {
                        [key: string]: string | number;
                    } | null;
                    completion_cost_details?: {
                        [key: string]: string | number;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelPrice"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    put_api_v1_model_price_map_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    name: string;
                    start_time?: string | number | null;
                    /**
                     * @default [
                     *       "model",
                     *       "model_name",
                     *       "model_id",
                     *       "model_path",
                     *       "endpoint_name"
                     *     ]
                     */
                    match_path?: string[];
                    match_pattern: string;
                    provider?: string | null;
                    prompt_cost: string | number;
                    completion_cost: string | number;
                    prompt_cost_details?: {
                        [key: string]: string | number;
                    } | null;
                    completion_cost_details?: {
                        [key: string]: string | number;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelPrice"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_model_price_map_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_runs_query: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    id?: (string | string[]) | null;
                    trace?: string | null;
                    parent_run?: string | null;
                    run_type?: ("tool" | "chain" | "llm" | "retriever" | "embedding" | "prompt" | "parser") | null;
                    session?: (string | string[]) | null;
                    reference_example?: (string | string[]) | null;
                    execution_order?: 1 | null;
                    start_time?: string | number | null;
                    end_time?: string | number | null;
                    error?: boolean | null;
                    query?: string | null;
                    filter?: string | null;
                    trace_filter?: string | null;
                    tree_filter?: string | null;
                    search_filter?: string | null;
                    is_root?: boolean | null;
                    data_source_type?: string | null;
                    use_experimental_search?: boolean | null;
                    skip_pagination?: boolean | null;
                    skip_prev_cursor?: boolean | null;
                    cursor?: string | null;
                    limit?: number | null;
                    select?: ("id" | "name" | "run_type" | "start_time" | "end_time" | "status" | "error" | "extra" | "events" | "inputs" | "outputs" | "inputs_preview" | "outputs_preview" | "serialized" | "parent_run_id" | "parent_run_ids" | "child_run_ids" | "direct_child_run_ids" | "manifest_id" | "manifest_s3_id" | "manifest" | "session_id" | "trace_id" | "dotted_order" | "thread_id" | "tags" | "reference_example_id" | "reference_dataset_id" | "total_tokens" | "prompt_tokens" | "completion_tokens" | "prompt_token_details" | "completion_token_details" | "total_cost" | "prompt_cost" | "completion_cost" | "prompt_cost_details" | "completion_cost_details" | "price_model_id" | "first_token_time" | "last_queued_at" | "feedback_stats" | "in_dataset" | "app_path" | "share_token" | "trace_tier" | "trace_first_received_at" | "ttl_seconds" | "trace_upgrade" | "trace_min_start_time" | "trace_max_start_time" | "execution_order" | "inserted_at" | "messages" | "inputs_s3_urls" | "outputs_s3_urls" | "s3_urls" | "trace_min_max_start_time" | "inputs_or_signed_url" | "outputs_or_signed_url" | "events_or_signed_url" | "extra_or_signed_url" | "serialized_or_signed_url" | "error_or_signed_url" | "manifest_or_signed_url")[] | null;
                    order?: ("asc" | "desc") | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        runs: ({
                            /** Format: uuid */
                            id: string;
                            name: string;
                            run_type: string;
                            start_time: string;
                            /** Format: uuid */
                            trace_id: string;
                            dotted_order: string;
                            status: string;
                            /** Format: uuid */
                            session_id: string;
                            app_path: string;
                            end_time?: string | null;
                            error?: string | null;
                            extra?: unknown;
                            events?: unknown;
                            inputs?: unknown;
                            outputs?: unknown;
                            serialized?: unknown;
                            inputs_preview?: string | null;
                            outputs_preview?: string | null;
                            parent_run_id?: string | null;
                            parent_run_ids?: string[];
                            child_run_ids?: string[];
                            direct_child_run_ids?: string[];
                            thread_id?: string | null;
                            tags?: string[];
                            reference_example_id?: string | null;
                            reference_dataset_id?: string | null;
                            total_tokens?: number;
                            prompt_tokens?: number;
                            completion_tokens?: number;
                            prompt_token_details?: {
                                [key: string]: unknown;
                            } | null;
                            completion_token_details?: {
                                [key: string]: unknown;
                            } | null;
                            total_cost?: string | null;
                            prompt_cost?: string | null;
                            completion_cost?: string | null;
                            prompt_cost_details?: {
                                [key: string]: unknown;
                            } | null;
                            completion_cost_details?: {
                                [key: string]: unknown;
                            } | null;
                            first_token_time?: string | null;
                            feedback_stats?: {
                                [key: string]: unknown;
                            } | null;
                            in_dataset?: boolean;
                            share_token?: string | null;
                            /** @enum {string} */
                            trace_tier?: "longlived" | "shortlived";
                            trace_first_received_at?: string | null;
                            ttl_seconds?: number | null;
                            s3_urls?: {
                                [key: string]: unknown;
                            } | null;
                            inputs_s3_urls?: null;
                            outputs_s3_urls?: null;
                            manifest?: unknown;
                            manifest_id?: unknown;
                            manifest_s3_id?: unknown;
                            messages?: unknown;
                            price_model_id?: string | null;
                            last_queued_at?: null;
                            inserted_at?: string | null;
                            trace_min_start_time?: string | null;
                            trace_max_start_time?: string | null;
                            trace_upgrade?: boolean;
                            execution_order?: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        cursors: {
                            next: string | null;
                            prev: string | null;
                        };
                        search_cursors: null;
                        parsed_query: null;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_runs_query_validate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    id?: (string | string[]) | null;
                    trace?: string | null;
                    parent_run?: string | null;
                    run_type?: ("tool" | "chain" | "llm" | "retriever" | "embedding" | "prompt" | "parser") | null;
                    session?: (string | string[]) | null;
                    reference_example?: (string | string[]) | null;
                    execution_order?: 1 | null;
                    start_time?: string | number | null;
                    end_time?: string | number | null;
                    error?: boolean | null;
                    query?: string | null;
                    filter?: string | null;
                    trace_filter?: string | null;
                    tree_filter?: string | null;
                    search_filter?: string | null;
                    is_root?: boolean | null;
                    data_source_type?: string | null;
                    use_experimental_search?: boolean | null;
                    skip_pagination?: boolean | null;
                    skip_prev_cursor?: boolean | null;
                    cursor?: string | null;
                    limit?: number | null;
                    select?: ("id" | "name" | "run_type" | "start_time" | "end_time" | "status" | "error" | "extra" | "events" | "inputs" | "outputs" | "inputs_preview" | "outputs_preview" | "serialized" | "parent_run_id" | "parent_run_ids" | "child_run_ids" | "direct_child_run_ids" | "manifest_id" | "manifest_s3_id" | "manifest" | "session_id" | "trace_id" | "dotted_order" | "thread_id" | "tags" | "reference_example_id" | "reference_dataset_id" | "total_tokens" | "prompt_tokens" | "completion_tokens" | "prompt_token_details" | "completion_token_details" | "total_cost" | "prompt_cost" | "completion_cost" | "prompt_cost_details" | "completion_cost_details" | "price_model_id" | "first_token_time" | "last_queued_at" | "feedback_stats" | "in_dataset" | "app_path" | "share_token" | "trace_tier" | "trace_first_received_at" | "ttl_seconds" | "trace_upgrade" | "trace_min_start_time" | "trace_max_start_time" | "execution_order" | "inserted_at" | "messages" | "inputs_s3_urls" | "outputs_s3_urls" | "s3_urls" | "trace_min_max_start_time" | "inputs_or_signed_url" | "outputs_or_signed_url" | "events_or_signed_url" | "extra_or_signed_url" | "serialized_or_signed_url" | "error_or_signed_url" | "manifest_or_signed_url")[] | null;
                    order?: ("asc" | "desc") | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        valid: boolean;
                        errors: {
                            field: string;
                            message: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["Error400"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_runs_stats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    id?: (string | string[]) | null;
                    trace?: string | null;
                    parent_run?: string | null;
                    run_type?: ("tool" | "chain" | "llm" | "retriever" | "embedding" | "prompt" | "parser") | null;
                    session?: (string | string[]) | null;
                    reference_example?: (string | string[]) | null;
                    execution_order?: 1 | null;
                    start_time?: string | number | null;
                    end_time?: string | number | null;
                    error?: boolean | null;
                    query?: string | null;
                    filter?: string | null;
                    trace_filter?: string | null;
                    tree_filter?: string | null;
                    search_filter?: string | null;
                    is_root?: boolean | null;
                    data_source_type?: string | null;
                    use_experimental_search?: boolean | null;
                    group_by?: {
                        /** @enum {string} */
                        attribute: "name" | "run_type" | "tag" | "metadata";
                        path?: string | null;
                        max_groups?: number | null;
                    } | null;
                    groups?: (string | null)[] | null;
                    select?: ("run_count" | "latency_p50" | "latency_p99" | "latency_avg" | "first_token_p50" | "first_token_p99" | "total_tokens" | "prompt_tokens" | "completion_tokens" | "median_tokens" | "tokens_p99" | "prompt_tokens_p50" | "prompt_tokens_p99" | "completion_tokens_p50" | "completion_tokens_p99" | "total_cost" | "prompt_cost" | "completion_cost" | "cost_p50" | "cost_p99" | "last_run_start_time" | "error_rate" | "streaming_rate" | "feedback_stats" | "run_facets" | "all_run_stats" | "all_token_stats")[] | null;
                    skip_pagination?: boolean | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        run_count?: number | null;
                        latency_p50?: number | null;
                        latency_p99?: number | null;
                        latency_avg?: number | null;
                        first_token_p50?: number | null;
                        first_token_p99?: number | null;
                        total_tokens?: number | null;
                        prompt_tokens?: number | null;
                        completion_tokens?: number | null;
                        median_tokens?: number | null;
                        tokens_p99?: number | null;
                        prompt_tokens_p50?: number | null;
                        prompt_tokens_p99?: number | null;
                        completion_tokens_p50?: number | null;
                        completion_tokens_p99?: number | null;
                        total_cost?: number | null;
                        prompt_cost?: number | null;
                        completion_cost?: number | null;
                        cost_p50?: number | null;
                        cost_p99?: number | null;
                        last_run_start_time?: string | null;
                        error_rate?: number | null;
                        streaming_rate?: number | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        run_facets?: {
                            [key: string]: unknown;
                        }[] | null;
                    } | {
                        [key: string]: {
                            run_count?: number | null;
                            latency_p50?: number | null;
                            latency_p99?: number | null;
                            latency_avg?: number | null;
                            first_token_p50?: number | null;
                            first_token_p99?: number | null;
                            total_tokens?: number | null;
                            prompt_tokens?: number | null;
                            completion_tokens?: number | null;
                            median_tokens?: number | null;
                            tokens_p99?: number | null;
                            prompt_tokens_p50?: number | null;
                            prompt_tokens_p99?: number | null;
                            completion_tokens_p50?: number | null;
                            completion_tokens_p99?: number | null;
                            total_cost?: number | null;
                            prompt_cost?: number | null;
                            completion_cost?: number | null;
                            cost_p50?: number | null;
                            cost_p99?: number | null;
                            last_run_start_time?: string | null;
                            error_rate?: number | null;
                            streaming_rate?: number | null;
                            feedback_stats?: {
                                [key: string]: unknown;
                            } | null;
                            run_facets?: {
                                [key: string]: unknown;
                            }[] | null;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_runs_stats_timeline: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    id?: (string | string[]) | null;
                    trace?: string | null;
                    parent_run?: string | null;
                    run_type?: ("tool" | "chain" | "llm" | "retriever" | "embedding" | "prompt" | "parser") | null;
                    session?: (string | string[]) | null;
                    reference_example?: (string | string[]) | null;
                    execution_order?: 1 | null;
                    start_time?: string | number | null;
                    end_time?: string | number | null;
                    error?: boolean | null;
                    query?: string | null;
                    filter?: string | null;
                    trace_filter?: string | null;
                    tree_filter?: string | null;
                    search_filter?: string | null;
                    is_root?: boolean | null;
                    data_source_type?: string | null;
                    use_experimental_search?: boolean | null;
                    /** @description Length of a bucket in seconds; buckets begin at multiples of it since 1970, in UTC. */
                    bucket_seconds: number;
                    group_by?: {
                        /** @enum {string} */
                        attribute: "name" | "run_type" | "tag" | "metadata";
                        path?: string | null;
                        max_groups?: number | null;
                    } | null;
                    select?: ("run_count" | "latency_p50" | "latency_p99" | "latency_avg" | "first_token_p50" | "first_token_p99" | "total_tokens" | "prompt_tokens" | "completion_tokens" | "median_tokens" | "tokens_p99" | "prompt_tokens_p50" | "prompt_tokens_p99" | "completion_tokens_p50" | "completion_tokens_p99" | "total_cost" | "prompt_cost" | "completion_cost" | "cost_p50" | "cost_p99" | "last_run_start_time" | "error_rate" | "streaming_rate" | "feedback_stats")[] | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        bucket_seconds: number;
                        /** @description Groups, those with the most runs first; without grouping a single one without a name. Empty buckets are omitted. */
                        series: {
                            group: string;
                            points: {
                                run_count?: number | null;
                                latency_p50?: number | null;
                                latency_p99?: number | null;
                                latency_avg?: number | null;
                                first_token_p50?: number | null;
                                first_token_p99?: number | null;
                                total_tokens?: number | null;
                                prompt_tokens?: number | null;
                                completion_tokens?: number | null;
                                median_tokens?: number | null;
                                tokens_p99?: number | null;
                                prompt_tokens_p50?: number | null;
                                prompt_tokens_p99?: number | null;
                                completion_tokens_p50?: number | null;
                                completion_tokens_p99?: number | null;
                                total_cost?: number | null;
                                prompt_cost?: number | null;
                                completion_cost?: number | null;
                                cost_p50?: number | null;
                                cost_p99?: number | null;
                                last_run_start_time?: string | null;
                                error_rate?: number | null;
                                streaming_rate?: number | null;
                                /** @description Start of the bucket, UTC */
                                start: string;
                            }[];
                        }[];
                        feedback: {
                            group: string;
                            key: string;
                            points: {
                                start: string;
                                n: number;
                                avg: number | null;
                            }[];
                        }[];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_runs_group: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    session_id: string;
                    /** @constant */
                    group_by: "conversation";
                    filter?: string | null;
                    start_time?: string | number | null;
                    end_time?: string | number | null;
                    offset?: number | null;
                    limit?: number | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        groups: {
                            thread_id: string;
                            group_key: string;
                            filter: string;
                            count: number;
                            total_tokens: number | null;
                            total_cost: number | null;
                            min_start_time: string | null;
                            max_start_time: string | null;
                            latency_p50: number | null;
                            latency_p99: number | null;
                            feedback_stats: {
                                [key: string]: unknown;
                            };
                            first_inputs: string | null;
                            last_outputs: string | null;
                            last_error: string | null;
                        }[];
                        total: number;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_runs_group_stats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    session_id: string;
                    /** @constant */
                    group_by: "conversation";
                    filter?: string | null;
                    start_time?: string | number | null;
                    end_time?: string | number | null;
                    offset?: number | null;
                    limit?: number | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        run_count?: number | null;
                        latency_p50?: number | null;
                        latency_p99?: number | null;
                        latency_avg?: number | null;
                        first_token_p50?: number | null;
                        first_token_p99?: number | null;
                        total_tokens?: number | null;
                        prompt_tokens?: number | null;
                        completion_tokens?: number | null;
                        median_tokens?: number | null;
                        tokens_p99?: number | null;
                        prompt_tokens_p50?: number | null;
                        prompt_tokens_p99?: number | null;
                        completion_tokens_p50?: number | null;
                        completion_tokens_p99?: number | null;
                        total_cost?: number | null;
                        prompt_cost?: number | null;
                        completion_cost?: number | null;
                        cost_p50?: number | null;
                        cost_p99?: number | null;
                        last_run_start_time?: string | null;
                        error_rate?: number | null;
                        streaming_rate?: number | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        run_facets?: {
                            [key: string]: unknown;
                        }[] | null;
                        group_count: number;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_runs_threads_thread_id: {
        parameters: {
            query: {
                session_id: string;
                select?: ("all_messages" | "human_ai_pairs" | "first_human_last_ai") | ("all_messages" | "human_ai_pairs" | "first_human_last_ai")[];
                variables?: unknown;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        thread_id: string;
                        previews: {
                            [key: string]: string;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v2_threads_query: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    min_start_time?: string | number | null;
                    max_start_time?: string | number | null;
                    /** Format: uuid */
                    project_id: string;
                    filter?: string | null;
                    thread_filter?: string | null;
                    trace_filter?: string | null;
                    tree_filter?: string | null;
                    cursor?: string | null;
                    page_size?: number | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: ({
                            thread_id: string;
                            count: number;
                            /** Format: uuid */
                            trace_id: string;
                            /** Format: uuid */
                            first_trace_id: string;
                            /** Format: uuid */
                            last_trace_id: string;
                            start_time: string;
                            min_start_time: string;
                            max_start_time: string;
                            num_errored_turns: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        has_more: boolean;
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["Error400Problem"];
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            413: components["responses"]["Error413Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    get_api_v2_threads_thread_id_traces: {
        parameters: {
            query: {
                project_id: string;
                filter?: string;
                selects?: ("THREAD_ID" | "TRACE_ID" | "OP" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_TOKENS" | "START_TIME" | "END_TIME" | "LATENCY" | "FIRST_TOKEN_TIME" | "INPUTS_PREVIEW" | "OUTPUTS_PREVIEW" | "INPUTS" | "OUTPUTS" | "ERROR" | "PROMPT_COST" | "COMPLETION_COST" | "TOTAL_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "NAME" | "ERROR_PREVIEW") | ("THREAD_ID" | "TRACE_ID" | "OP" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_TOKENS" | "START_TIME" | "END_TIME" | "LATENCY" | "FIRST_TOKEN_TIME" | "INPUTS_PREVIEW" | "OUTPUTS_PREVIEW" | "INPUTS" | "OUTPUTS" | "ERROR" | "PROMPT_COST" | "COMPLETION_COST" | "TOTAL_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "NAME" | "ERROR_PREVIEW")[];
                cursor?: string;
                page_size?: number;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: ({
                            /** Format: uuid */
                            trace_id: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                        has_more: boolean;
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["Error400Problem"];
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    get_api_v2_threads_thread_id_stats: {
        parameters: {
            query: {
                session_id: string;
                filter?: string;
                selects?: ("TURNS" | "FIRST_START_TIME" | "LAST_START_TIME" | "LAST_END_TIME" | "LATENCY_P50" | "LATENCY_P99" | "PROMPT_TOKENS" | "PROMPT_COST" | "COMPLETION_TOKENS" | "COMPLETION_COST" | "TOTAL_TOKENS" | "TOTAL_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "FEEDBACK_STATS") | ("TURNS" | "FIRST_START_TIME" | "LAST_START_TIME" | "LAST_END_TIME" | "LATENCY_P50" | "LATENCY_P99" | "PROMPT_TOKENS" | "PROMPT_COST" | "COMPLETION_TOKENS" | "COMPLETION_COST" | "TOTAL_TOKENS" | "TOTAL_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "FEEDBACK_STATS")[];
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        turns?: number;
                        total_tokens?: number;
                        total_cost?: number;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Error400Problem"];
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    post_api_v2_runs_query: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    min_start_time?: string | number | null;
                    max_start_time?: string | number | null;
                    project_ids?: string[] | null;
                    reference_dataset_id?: string | null;
                    ids?: string[] | null;
                    trace_id?: string | null;
                    run_type?: ("TOOL" | "CHAIN" | "LLM" | "RETRIEVER" | "EMBEDDING" | "PROMPT" | "PARSER") | null;
                    is_root?: boolean | null;
                    has_error?: boolean | null;
                    reference_examples?: string[] | null;
                    filter?: string | null;
                    trace_filter?: string | null;
                    tree_filter?: string | null;
                    ai_query?: null;
                    selects?: ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS")[] | null;
                    sort_order?: ("ASC" | "DESC") | null;
                    cursor?: string | null;
                    page_size?: number | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: ({
                            /** Format: uuid */
                            id?: string;
                            name?: string;
                            /** @enum {string} */
                            run_type?: "TOOL" | "CHAIN" | "LLM" | "RETRIEVER" | "EMBEDDING" | "PROMPT" | "PARSER";
                            /** @enum {string} */
                            status?: "SUCCESS" | "ERROR" | "PENDING";
                            start_time?: string;
                            end_time?: string | null;
                            latency_seconds?: number;
                            inputs?: unknown;
                            outputs?: unknown;
                            /** Format: uuid */
                            project_id?: string;
                            /** Format: uuid */
                            trace_id?: string;
                            is_root?: boolean;
                            total_tokens?: number;
                            total_cost?: number;
                            tags?: string[];
                        } & {
                            [key: string]: unknown;
                        })[];
                        has_more: boolean;
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["Error400Problem"];
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            413: components["responses"]["Error413Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    get_api_v2_runs_run_id: {
        parameters: {
            query: {
                project_id: string;
                start_time?: string;
                selects?: ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS") | ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS")[];
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id?: string;
                        name?: string;
                        /** @enum {string} */
                        run_type?: "TOOL" | "CHAIN" | "LLM" | "RETRIEVER" | "EMBEDDING" | "PROMPT" | "PARSER";
                        /** @enum {string} */
                        status?: "SUCCESS" | "ERROR" | "PENDING";
                        start_time?: string;
                        end_time?: string | null;
                        latency_seconds?: number;
                        inputs?: unknown;
                        outputs?: unknown;
                        /** Format: uuid */
                        project_id?: string;
                        /** Format: uuid */
                        trace_id?: string;
                        is_root?: boolean;
                        total_tokens?: number;
                        total_cost?: number;
                        tags?: string[];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    get_api_v2_runs_run_id_url: {
        parameters: {
            query: {
                project_id: string;
                trace_id: string;
                start_time?: string;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        url: string;
                    };
                };
            };
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    post_api_v2_traces_query: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    min_start_time?: string | number | null;
                    max_start_time?: string | number | null;
                    /** Format: uuid */
                    project_id: string;
                    trace_ids?: string[] | null;
                    trace_filter?: string | null;
                    tree_filter?: string | null;
                    selects?: ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS")[] | null;
                    cursor?: string | null;
                    page_size?: number | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            root_run: {
                                /** Format: uuid */
                                id?: string;
                                name?: string;
                                /** @enum {string} */
                                run_type?: "TOOL" | "CHAIN" | "LLM" | "RETRIEVER" | "EMBEDDING" | "PROMPT" | "PARSER";
                                /** @enum {string} */
                                status?: "SUCCESS" | "ERROR" | "PENDING";
                                start_time?: string;
                                end_time?: string | null;
                                latency_seconds?: number;
                                inputs?: unknown;
                                outputs?: unknown;
                                /** Format: uuid */
                                project_id?: string;
                                /** Format: uuid */
                                trace_id?: string;
                                is_root?: boolean;
                                total_tokens?: number;
                                total_cost?: number;
                                tags?: string[];
                            } & {
                                [key: string]: unknown;
                            };
                            trace_aggregates: {
                                total_tokens: number | null;
                                total_cost: number | null;
                                first_token_time: string | null;
                            };
                        }[];
                        has_more: boolean;
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["Error400Problem"];
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            413: components["responses"]["Error413Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    get_api_v2_traces_trace_id_runs: {
        parameters: {
            query: {
                project_id: string;
                min_start_time?: string;
                max_start_time?: string;
                filter?: string;
                selects?: ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS") | ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS")[];
            };
            header?: never;
            path: {
                trace_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: ({
                            /** Format: uuid */
                            id?: string;
                            name?: string;
                            /** @enum {string} */
                            run_type?: "TOOL" | "CHAIN" | "LLM" | "RETRIEVER" | "EMBEDDING" | "PROMPT" | "PARSER";
                            /** @enum {string} */
                            status?: "SUCCESS" | "ERROR" | "PENDING";
                            start_time?: string;
                            end_time?: string | null;
                            latency_seconds?: number;
                            inputs?: unknown;
                            outputs?: unknown;
                            /** Format: uuid */
                            project_id?: string;
                            /** Format: uuid */
                            trace_id?: string;
                            is_root?: boolean;
                            total_tokens?: number;
                            total_cost?: number;
                            tags?: string[];
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            400: components["responses"]["Error400Problem"];
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    post_api_v1_runs_delete_traces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    session_id: string;
                    trace_ids: string[];
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deleted_traces: number;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_runs_delete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    session_id?: string | null;
                    trace_ids?: string[] | null;
                    metadata?: {
                        [key: string]: string;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deleted_traces: number;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_runs_run_id_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        run_id: string;
                        /** Format: uuid */
                        share_token: string;
                    } | null;
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    put_api_v1_runs_run_id_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    run_id?: string | null;
                    share_token?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        run_id: string;
                        /** Format: uuid */
                        share_token: string;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_runs_run_id_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v2_runs_run_id_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    session_id: string;
                    /** Format: uuid */
                    trace_id: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        share_token: string;
                    };
                };
            };
            400: components["responses"]["Error400Problem"];
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            413: components["responses"]["Error413Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    delete_api_v2_runs_run_id_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    session_id: string;
                };
            };
        };
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Error400Problem"];
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            413: components["responses"]["Error413Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    get_api_v1_public_share_token_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                share_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        run_type: string;
                        start_time: string;
                        /** Format: uuid */
                        trace_id: string;
                        dotted_order: string;
                        status: string;
                        end_time?: string | null;
                        error?: string | null;
                        extra?: unknown;
                        events?: unknown;
                        inputs?: unknown;
                        outputs?: unknown;
                        serialized?: unknown;
                        inputs_preview?: string | null;
                        outputs_preview?: string | null;
                        parent_run_id?: string | null;
                        parent_run_ids?: string[];
                        child_run_ids?: string[];
                        direct_child_run_ids?: string[];
                        thread_id?: string | null;
                        tags?: string[];
                        reference_example_id?: string | null;
                        reference_dataset_id?: string | null;
                        total_tokens?: number;
                        prompt_tokens?: number;
                        completion_tokens?: number;
                        prompt_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        total_cost?: string | null;
                        prompt_cost?: string | null;
                        completion_cost?: string | null;
                        prompt_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        first_token_time?: string | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        in_dataset?: boolean;
                        share_token?: string | null;
                        /** @enum {string} */
                        trace_tier?: "longlived" | "shortlived";
                        trace_first_received_at?: string | null;
                        ttl_seconds?: number | null;
                        s3_urls?: {
                            [key: string]: unknown;
                        } | null;
                        inputs_s3_urls?: null;
                        outputs_s3_urls?: null;
                        manifest?: unknown;
                        manifest_id?: unknown;
                        manifest_s3_id?: unknown;
                        messages?: unknown;
                        price_model_id?: string | null;
                        last_queued_at?: null;
                        inserted_at?: string | null;
                        trace_min_start_time?: string | null;
                        trace_max_start_time?: string | null;
                        trace_upgrade?: boolean;
                        execution_order?: number;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_public_share_token_run_run_id: {
        parameters: {
            query?: {
                session_id?: string;
                start_time?: string;
                exclude_s3_stored_attributes?: "0" | "1" | "true" | "false" | "True" | "False";
                exclude_serialized?: "0" | "1" | "true" | "false" | "True" | "False";
                include_messages?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path: {
                share_token: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        run_type: string;
                        start_time: string;
                        /** Format: uuid */
                        trace_id: string;
                        dotted_order: string;
                        status: string;
                        end_time?: string | null;
                        error?: string | null;
                        extra?: unknown;
                        events?: unknown;
                        inputs?: unknown;
                        outputs?: unknown;
                        serialized?: unknown;
                        inputs_preview?: string | null;
                        outputs_preview?: string | null;
                        parent_run_id?: string | null;
                        parent_run_ids?: string[];
                        child_run_ids?: string[];
                        direct_child_run_ids?: string[];
                        thread_id?: string | null;
                        tags?: string[];
                        reference_example_id?: string | null;
                        reference_dataset_id?: string | null;
                        total_tokens?: number;
                        prompt_tokens?: number;
                        completion_tokens?: number;
                        prompt_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        total_cost?: string | null;
                        prompt_cost?: string | null;
                        completion_cost?: string | null;
                        prompt_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        first_token_time?: string | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        in_dataset?: boolean;
                        share_token?: string | null;
                        /** @enum {string} */
                        trace_tier?: "longlived" | "shortlived";
                        trace_first_received_at?: string | null;
                        ttl_seconds?: number | null;
                        s3_urls?: {
                            [key: string]: unknown;
                        } | null;
                        inputs_s3_urls?: null;
                        outputs_s3_urls?: null;
                        manifest?: unknown;
                        manifest_id?: unknown;
                        manifest_s3_id?: unknown;
                        messages?: unknown;
                        price_model_id?: string | null;
                        last_queued_at?: null;
                        inserted_at?: string | null;
                        trace_min_start_time?: string | null;
                        trace_max_start_time?: string | null;
                        trace_upgrade?: boolean;
                        execution_order?: number;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_public_share_token_runs_query: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                share_token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    id?: string[] | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        runs: ({
                            /** Format: uuid */
                            id: string;
                            name: string;
                            run_type: string;
                            start_time: string;
                            /** Format: uuid */
                            trace_id: string;
                            dotted_order: string;
                            status: string;
                            end_time?: string | null;
                            error?: string | null;
                            extra?: unknown;
                            events?: unknown;
                            inputs?: unknown;
                            outputs?: unknown;
                            serialized?: unknown;
                            inputs_preview?: string | null;
                            outputs_preview?: string | null;
                            parent_run_id?: string | null;
                            parent_run_ids?: string[];
                            child_run_ids?: string[];
                            direct_child_run_ids?: string[];
                            thread_id?: string | null;
                            tags?: string[];
                            reference_example_id?: string | null;
                            reference_dataset_id?: string | null;
                            total_tokens?: number;
                            prompt_tokens?: number;
                            completion_tokens?: number;
                            prompt_token_details?: {
                                [key: string]: unknown;
                            } | null;
                            completion_token_details?: {
                                [key: string]: unknown;
                            } | null;
                            total_cost?: string | null;
                            prompt_cost?: string | null;
                            completion_cost?: string | null;
                            prompt_cost_details?: {
                                [key: string]: unknown;
                            } | null;
                            completion_cost_details?: {
                                [key: string]: unknown;
                            } | null;
                            first_token_time?: string | null;
                            feedback_stats?: {
                                [key: string]: unknown;
                            } | null;
                            in_dataset?: boolean;
                            share_token?: string | null;
                            /** @enum {string} */
                            trace_tier?: "longlived" | "shortlived";
                            trace_first_received_at?: string | null;
                            ttl_seconds?: number | null;
                            s3_urls?: {
                                [key: string]: unknown;
                            } | null;
                            inputs_s3_urls?: null;
                            outputs_s3_urls?: null;
                            manifest?: unknown;
                            manifest_id?: unknown;
                            manifest_s3_id?: unknown;
                            messages?: unknown;
                            price_model_id?: string | null;
                            last_queued_at?: null;
                            inserted_at?: string | null;
                            trace_min_start_time?: string | null;
                            trace_max_start_time?: string | null;
                            trace_upgrade?: boolean;
                            execution_order?: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        cursors: {
                            next: null;
                            prev: null;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_public_share_token_runs: {
        parameters: {
            query?: {
                id?: string | string[];
            };
            header?: never;
            path: {
                share_token: string;
                query: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        /** Format: uuid */
                        id: string;
                        name: string;
                        run_type: string;
                        start_time: string;
                        /** Format: uuid */
                        trace_id: string;
                        dotted_order: string;
                        status: string;
                        end_time?: string | null;
                        error?: string | null;
                        extra?: unknown;
                        events?: unknown;
                        inputs?: unknown;
                        outputs?: unknown;
                        serialized?: unknown;
                        inputs_preview?: string | null;
                        outputs_preview?: string | null;
                        parent_run_id?: string | null;
                        parent_run_ids?: string[];
                        child_run_ids?: string[];
                        direct_child_run_ids?: string[];
                        thread_id?: string | null;
                        tags?: string[];
                        reference_example_id?: string | null;
                        reference_dataset_id?: string | null;
                        total_tokens?: number;
                        prompt_tokens?: number;
                        completion_tokens?: number;
                        prompt_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        total_cost?: string | null;
                        prompt_cost?: string | null;
                        completion_cost?: string | null;
                        prompt_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        first_token_time?: string | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        in_dataset?: boolean;
                        share_token?: string | null;
                        /** @enum {string} */
                        trace_tier?: "longlived" | "shortlived";
                        trace_first_received_at?: string | null;
                        ttl_seconds?: number | null;
                        s3_urls?: {
                            [key: string]: unknown;
                        } | null;
                        inputs_s3_urls?: null;
                        outputs_s3_urls?: null;
                        manifest?: unknown;
                        manifest_id?: unknown;
                        manifest_s3_id?: unknown;
                        messages?: unknown;
                        price_model_id?: string | null;
                        last_queued_at?: null;
                        inserted_at?: string | null;
                        trace_min_start_time?: string | null;
                        trace_max_start_time?: string | null;
                        trace_upgrade?: boolean;
                        execution_order?: number;
                    } & {
                        [key: string]: unknown;
                    })[];
                };
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_public_share_token_query_runs: {
        parameters: {
            query?: {
                id?: string | string[];
            };
            header?: never;
            path: {
                share_token: string;
                query: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        /** Format: uuid */
                        id: string;
                        name: string;
                        run_type: string;
                        start_time: string;
                        /** Format: uuid */
                        trace_id: string;
                        dotted_order: string;
                        status: string;
                        end_time?: string | null;
                        error?: string | null;
                        extra?: unknown;
                        events?: unknown;
                        inputs?: unknown;
                        outputs?: unknown;
                        serialized?: unknown;
                        inputs_preview?: string | null;
                        outputs_preview?: string | null;
                        parent_run_id?: string | null;
                        parent_run_ids?: string[];
                        child_run_ids?: string[];
                        direct_child_run_ids?: string[];
                        thread_id?: string | null;
                        tags?: string[];
                        reference_example_id?: string | null;
                        reference_dataset_id?: string | null;
                        total_tokens?: number;
                        prompt_tokens?: number;
                        completion_tokens?: number;
                        prompt_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_token_details?: {
                            [key: string]: unknown;
                        } | null;
                        total_cost?: string | null;
                        prompt_cost?: string | null;
                        completion_cost?: string | null;
                        prompt_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        completion_cost_details?: {
                            [key: string]: unknown;
                        } | null;
                        first_token_time?: string | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        in_dataset?: boolean;
                        share_token?: string | null;
                        /** @enum {string} */
                        trace_tier?: "longlived" | "shortlived";
                        trace_first_received_at?: string | null;
                        ttl_seconds?: number | null;
                        s3_urls?: {
                            [key: string]: unknown;
                        } | null;
                        inputs_s3_urls?: null;
                        outputs_s3_urls?: null;
                        manifest?: unknown;
                        manifest_id?: unknown;
                        manifest_s3_id?: unknown;
                        messages?: unknown;
                        price_model_id?: string | null;
                        last_queued_at?: null;
                        inserted_at?: string | null;
                        trace_min_start_time?: string | null;
                        trace_max_start_time?: string | null;
                        trace_upgrade?: boolean;
                        execution_order?: number;
                    } & {
                        [key: string]: unknown;
                    })[];
                };
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_public_share_token_feedbacks: {
        parameters: {
            query?: {
                run?: string | string[];
                key?: string | string[];
                source?: string | string[];
                has_comment?: "0" | "1" | "true" | "false" | "True" | "False";
                has_score?: "0" | "1" | "true" | "false" | "True" | "False";
                offset?: string;
                level?: "run";
                session?: unknown;
                user?: unknown;
                limit?: string;
            };
            header?: never;
            path: {
                share_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        /** Format: uuid */
                        id: string;
                        key: string;
                    } & {
                        [key: string]: unknown;
                    })[];
                };
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v2_public_share_token_runs_query: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                share_token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    selects?: ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS")[] | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: ({
                            /** Format: uuid */
                            id?: string;
                            name?: string;
                            /** @enum {string} */
                            run_type?: "TOOL" | "CHAIN" | "LLM" | "RETRIEVER" | "EMBEDDING" | "PROMPT" | "PARSER";
                            /** @enum {string} */
                            status?: "SUCCESS" | "ERROR" | "PENDING";
                            start_time?: string;
                            end_time?: string | null;
                            latency_seconds?: number;
                            inputs?: unknown;
                            outputs?: unknown;
                            /** Format: uuid */
                            project_id?: string;
                            /** Format: uuid */
                            trace_id?: string;
                            is_root?: boolean;
                            total_tokens?: number;
                            total_cost?: number;
                            tags?: string[];
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            400: components["responses"]["Error400Problem"];
            404: components["responses"]["Error404Problem"];
            413: components["responses"]["Error413Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    get_api_v2_public_share_token_run_run_id: {
        parameters: {
            query?: {
                selects?: ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS") | ("ID" | "NAME" | "RUN_TYPE" | "STATUS" | "START_TIME" | "END_TIME" | "LATENCY_SECONDS" | "FIRST_TOKEN_TIME" | "ERROR" | "ERROR_PREVIEW" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "INPUTS_PREVIEW" | "OUTPUTS" | "OUTPUTS_PREVIEW" | "MANIFEST" | "PARENT_RUN_IDS" | "PROJECT_ID" | "TRACE_ID" | "THREAD_ID" | "DOTTED_ORDER" | "IS_ROOT" | "REFERENCE_EXAMPLE_ID" | "REFERENCE_DATASET_ID" | "TOTAL_TOKENS" | "PROMPT_TOKENS" | "COMPLETION_TOKENS" | "TOTAL_COST" | "PROMPT_COST" | "COMPLETION_COST" | "PROMPT_TOKEN_DETAILS" | "COMPLETION_TOKEN_DETAILS" | "PROMPT_COST_DETAILS" | "COMPLETION_COST_DETAILS" | "PRICE_MODEL_ID" | "TAGS" | "APP_PATH" | "ATTACHMENTS" | "THREAD_EVALUATION_TIME" | "IS_IN_DATASET" | "LAST_QUEUED_AT" | "SHARE_URL" | "FEEDBACK_STATS")[];
                start_time?: string;
            };
            header?: never;
            path: {
                share_token: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id?: string;
                        name?: string;
                        /** @enum {string} */
                        run_type?: "TOOL" | "CHAIN" | "LLM" | "RETRIEVER" | "EMBEDDING" | "PROMPT" | "PARSER";
                        /** @enum {string} */
                        status?: "SUCCESS" | "ERROR" | "PENDING";
                        start_time?: string;
                        end_time?: string | null;
                        latency_seconds?: number;
                        inputs?: unknown;
                        outputs?: unknown;
                        /** Format: uuid */
                        project_id?: string;
                        /** Format: uuid */
                        trace_id?: string;
                        is_root?: boolean;
                        total_tokens?: number;
                        total_cost?: number;
                        tags?: string[];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            404: components["responses"]["Error404Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    get_api_v1_sessions: {
        parameters: {
            query?: {
                include_stats?: "0" | "1" | "true" | "false" | "True" | "False";
                stats_start_time?: string;
                stats_filter?: string;
                stats_select?: string | string[];
                use_approx_stats?: "0" | "1" | "true" | "false" | "True" | "False";
                id?: string | string[];
                name?: string;
                name_contains?: string;
                reference_free?: "0" | "1" | "true" | "false" | "True" | "False";
                reference_dataset?: string | string[];
                dataset_version?: string;
                metadata?: string;
                filter?: string;
                facets?: "0" | "1" | "true" | "false" | "True" | "False";
                tag_value_id?: unknown;
                sort_by?: "name" | "start_time" | "last_run_start_time" | "latency_p50" | "latency_p99" | "error_rate" | "feedback" | "runs_count";
                sort_by_desc?: "0" | "1" | "true" | "false" | "True" | "False";
                sort_by_feedback_key?: string;
                sort_by_feedback_source?: unknown;
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        tenant_id: string;
                        name: string;
                        description: string | null;
                        extra: {
                            [key: string]: unknown;
                        } | null;
                        start_time: string;
                        end_time: string | null;
                        default_dataset_id: string | null;
                        reference_dataset_id: string | null;
                        test_run_number: number | null;
                        trace_tier: ("longlived" | "shortlived") | null;
                        retention_days: number | null;
                        last_run_start_time_live: string | null;
                        run_count?: number | null;
                        latency_p50?: number | null;
                        latency_p99?: number | null;
                        first_token_p50?: number | null;
                        first_token_p99?: number | null;
                        total_tokens?: number | null;
                        prompt_tokens?: number | null;
                        completion_tokens?: number | null;
                        total_cost?: string | null;
                        prompt_cost?: string | null;
                        completion_cost?: string | null;
                        last_run_start_time?: string | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        session_feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        run_facets?: {
                            [key: string]: unknown;
                        }[] | null;
                        error_rate?: number | null;
                        streaming_rate?: number | null;
                    }[];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_sessions: {
        parameters: {
            query?: {
                upsert?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    description?: string | null;
                    extra?: {
                        [key: string]: unknown;
                    } | null;
                    end_time?: (string | number) | null;
                    default_dataset_id?: string | null;
                    trace_tier?: ("longlived" | "shortlived") | null;
                    retention_days?: number | null;
                    num_examples?: number | null;
                    num_repetitions?: number | null;
                    evaluator_keys?: string[] | null;
                    id?: string | null;
                    name?: string | null;
                    start_time?: (string | number) | null;
                    reference_dataset_id?: string | null;
                    tag_value_ids?: null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        tenant_id: string;
                        name: string;
                        description: string | null;
                        extra: {
                            [key: string]: unknown;
                        } | null;
                        start_time: string;
                        end_time: string | null;
                        default_dataset_id: string | null;
                        reference_dataset_id: string | null;
                        test_run_number: number | null;
                        trace_tier: ("longlived" | "shortlived") | null;
                        retention_days: number | null;
                        last_run_start_time_live: string | null;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_sessions: {
        parameters: {
            query?: {
                session_ids?: string | string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deleted: string[];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_sessions_session_id: {
        parameters: {
            query?: {
                include_stats?: "0" | "1" | "true" | "false" | "True" | "False";
                stats_start_time?: string;
                stats_filter?: string;
                stats_select?: string | string[];
                use_approx_stats?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        tenant_id: string;
                        name: string;
                        description: string | null;
                        extra: {
                            [key: string]: unknown;
                        } | null;
                        start_time: string;
                        end_time: string | null;
                        default_dataset_id: string | null;
                        reference_dataset_id: string | null;
                        test_run_number: number | null;
                        trace_tier: ("longlived" | "shortlived") | null;
                        retention_days: number | null;
                        last_run_start_time_live: string | null;
                        run_count?: number | null;
                        latency_p50?: number | null;
                        latency_p99?: number | null;
                        first_token_p50?: number | null;
                        first_token_p99?: number | null;
                        total_tokens?: number | null;
                        prompt_tokens?: number | null;
                        completion_tokens?: number | null;
                        total_cost?: string | null;
                        prompt_cost?: string | null;
                        completion_cost?: string | null;
                        last_run_start_time?: string | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        session_feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        run_facets?: {
                            [key: string]: unknown;
                        }[] | null;
                        error_rate?: number | null;
                        streaming_rate?: number | null;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_sessions_session_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deleted: string[];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_sessions_session_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    description?: string | null;
                    extra?: {
                        [key: string]: unknown;
                    } | null;
                    end_time?: (string | number) | null;
                    default_dataset_id?: string | null;
                    trace_tier?: ("longlived" | "shortlived") | null;
                    retention_days?: number | null;
                    name?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        tenant_id: string;
                        name: string;
                        description: string | null;
                        extra: {
                            [key: string]: unknown;
                        } | null;
                        start_time: string;
                        end_time: string | null;
                        default_dataset_id: string | null;
                        reference_dataset_id: string | null;
                        test_run_number: number | null;
                        trace_tier: ("longlived" | "shortlived") | null;
                        retention_days: number | null;
                        last_run_start_time_live: string | null;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_sessions_session_id_metadata: {
        parameters: {
            query?: {
                metadata_keys?: string | string[];
                start_time?: string;
                k?: string;
                root_runs_only?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: string[];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_attachments_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_feedback_tokens: {
        parameters: {
            query: {
                run_id: string;
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackToken"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_feedback_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FeedbackTokenCreate"] | components["schemas"]["FeedbackTokenCreate"][];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackToken"] | components["schemas"]["FeedbackToken"][];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_feedback_tokens_token: {
        parameters: {
            query?: {
                score?: string | string[];
                value?: string | string[];
                comment?: string | string[];
                correction?: string | string[];
            };
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                    "text/html": string;
                };
            };
            404: components["responses"]["Error404"];
            410: components["responses"]["Error410"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_feedback_tokens_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FeedbackSubmission"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                    "text/html": string;
                };
            };
            400: components["responses"]["Error400"];
            404: components["responses"]["Error404"];
            410: components["responses"]["Error410"];
            413: components["responses"]["Error413"];
            415: components["responses"]["Error415"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_feedback_tokens_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_feedback_formulas: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            410: components["responses"]["Error410"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_feedback_formulas: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            410: components["responses"]["Error410"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_feedback: {
        parameters: {
            query?: {
                run?: string | string[];
                key?: string | string[];
                session?: string | string[];
                source?: string | string[];
                user?: string | string[];
                has_comment?: "0" | "1" | "true" | "false" | "True" | "False";
                has_score?: "0" | "1" | "true" | "false" | "True" | "False";
                level?: "run" | "session";
                min_created_at?: string;
                max_created_at?: string;
                comparative_experiment_id?: string;
                include_user_names?: "0" | "false" | "False";
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Feedback"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_feedback: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FeedbackCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Feedback"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_feedback_feedback_id: {
        parameters: {
            query?: {
                include_user_names?: "0" | "false" | "False";
            };
            header?: never;
            path: {
                feedback_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Feedback"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_feedback_feedback_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                feedback_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_feedback_feedback_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                feedback_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FeedbackUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Feedback"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_feedback_configs: {
        parameters: {
            query?: {
                key?: string | string[];
                name_contains?: string;
                limit?: string;
                offset?: string;
                sort_by_desc?: "0" | "1" | "true" | "false" | "True" | "False";
                read_after_write?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackConfigRecord"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_feedback_configs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FeedbackConfigCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackConfigRecord"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_feedback_configs: {
        parameters: {
            query: {
                feedback_key: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_feedback_configs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FeedbackConfigUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackConfigRecord"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_datasets_upload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            415: components["responses"]["Error415"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_examples_upload_dataset_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        example_ids: string[];
                        /** Format: date-time */
                        as_of: string;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            415: components["responses"]["Error415"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_csv: {
        parameters: {
            query?: {
                as_of?: string;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_jsonl: {
        parameters: {
            query?: {
                as_of?: string;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_openai: {
        parameters: {
            query?: {
                as_of?: string;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_openai_ft: {
        parameters: {
            query?: {
                as_of?: string;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_datasets_clone: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DatasetClone"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        dataset_id: string;
                        /** Format: uuid */
                        source_example_id: string;
                    }[];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_examples_validate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExampleCandidate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExampleCandidate"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_examples_validate_bulk: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExampleCandidate"][];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExampleCandidate"][];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_datasets_comparative: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ComparativeExperimentCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparativeExperiment"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_comparative: {
        parameters: {
            query?: {
                id?: string | string[];
                name?: string;
                name_contains?: string;
                sort_by?: "name" | "created_at";
                sort_by_desc?: "0" | "1" | "true" | "false" | "True" | "False";
                limit?: string;
                offset?: string;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparativeExperimentListed"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_datasets_comparative_comparative_experiment_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparative_experiment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets: {
        parameters: {
            query?: {
                id?: string | string[];
                name?: string;
                name_contains?: string;
                data_type?: ("kv" | "llm" | "chat") | ("kv" | "llm" | "chat")[];
                metadata?: string;
                sort_by?: "name" | "created_at" | "last_session_start_time" | "example_count" | "session_count" | "modified_at";
                sort_by_desc?: "0" | "1" | "true" | "false" | "True" | "False";
                exclude?: "example_count" | "example_count"[];
                tag_value_id?: unknown;
                exclude_corrections_datasets?: "0" | "1" | "true" | "false" | "True" | "False";
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_datasets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DatasetCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_datasets: {
        parameters: {
            query: {
                dataset_ids: string | string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_datasets_dataset_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_datasets_dataset_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DatasetUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_versions: {
        parameters: {
            query?: {
                search?: string;
                example?: string;
                limit?: string;
                offset?: string;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetVersion"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_versions_diff: {
        parameters: {
            query: {
                from_version: string;
                to_version: string;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        examples_added: string[];
                        examples_removed: string[];
                        examples_modified: string[];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_version: {
        parameters: {
            query?: {
                as_of?: string;
                tag?: string;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetVersion"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    put_api_v1_datasets_dataset_id_tags: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    as_of: string;
                    tag: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetVersion"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_splits: {
        parameters: {
            query?: {
                as_of?: string;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string[];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    put_api_v1_datasets_dataset_id_splits: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    split_name: string;
                    examples: string[];
                    /** @default false */
                    remove?: boolean;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string[];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_datasets_dataset_id_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetShare"] | null;
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    put_api_v1_datasets_dataset_id_share: {
        parameters: {
            query?: {
                share_projects?: "0" | "false" | "False";
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetShare"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_datasets_dataset_id_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_public_share_token_datasets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                share_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_public_share_token_datasets_sessions: {
        parameters: {
            query?: {
                id?: string | string[];
                name?: string;
                name_contains?: string;
                dataset_version?: string;
                sort_by?: "name" | "start_time" | "last_run_start_time" | "latency_p50" | "latency_p99" | "error_rate" | "feedback" | "runs_count";
                sort_by_desc?: "0" | "1" | "true" | "false" | "True" | "False";
                sort_by_feedback_key?: string;
                facets?: "0" | "1" | "true" | "false" | "True" | "False";
                limit?: string;
                offset?: string;
            };
            header?: never;
            path: {
                share_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        tenant_id: string;
                        name: string;
                        description: string | null;
                        extra: {
                            [key: string]: unknown;
                        } | null;
                        start_time: string;
                        end_time: string | null;
                        default_dataset_id: string | null;
                        reference_dataset_id: string | null;
                        test_run_number: number | null;
                        trace_tier: ("longlived" | "shortlived") | null;
                        retention_days: number | null;
                        last_run_start_time_live: string | null;
                        run_count?: number | null;
                        latency_p50?: number | null;
                        latency_p99?: number | null;
                        first_token_p50?: number | null;
                        first_token_p99?: number | null;
                        total_tokens?: number | null;
                        prompt_tokens?: number | null;
                        completion_tokens?: number | null;
                        total_cost?: string | null;
                        prompt_cost?: string | null;
                        completion_cost?: string | null;
                        last_run_start_time?: string | null;
                        feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        session_feedback_stats?: {
                            [key: string]: unknown;
                        } | null;
                        run_facets?: {
                            [key: string]: unknown;
                        }[] | null;
                        error_rate?: number | null;
                        streaming_rate?: number | null;
                    }[];
                };
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_public_share_token_examples: {
        parameters: {
            query?: {
                id?: string | string[];
                metadata?: string;
                filter?: string;
                select?: ("id" | "created_at" | "modified_at" | "name" | "dataset_id" | "source_run_id" | "metadata" | "inputs" | "outputs" | "attachment_urls") | ("id" | "created_at" | "modified_at" | "name" | "dataset_id" | "source_run_id" | "metadata" | "inputs" | "outputs" | "attachment_urls")[];
                limit?: string;
                offset?: string;
                as_of?: "latest";
            };
            header?: never;
            path: {
                share_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Example"][];
                };
            };
            400: components["responses"]["Error400"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_public_share_token_examples_count: {
        parameters: {
            query?: {
                id?: string | string[];
                metadata?: string;
                filter?: string;
                as_of?: "latest";
            };
            header?: never;
            path: {
                share_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": number;
                };
            };
            400: components["responses"]["Error400"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_datasets_dataset_id_runs: {
        parameters: {
            query?: {
                format?: unknown;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExperimentRunsQuery"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExampleWithRuns"][];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v2_datasets_dataset_id_experiment_runs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExperimentRunsQueryV2"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** Format: uuid */
                            id: string;
                            /** Format: uuid */
                            dataset_id: string;
                            name: string;
                            /** Format: date-time */
                            created_at: string;
                            /** Format: date-time */
                            modified_at: string;
                            inputs: {
                                [key: string]: unknown;
                            };
                            outputs?: {
                                [key: string]: unknown;
                            } | null;
                            metadata?: {
                                [key: string]: unknown;
                            } | null;
                            source_run_id: string | null;
                            attachment_urls?: {
                                [key: string]: {
                                    presigned_url: string;
                                    mime_type: string;
                                };
                            } | null;
                            runs: ({
                                /** Format: uuid */
                                id?: string;
                                name?: string;
                                /** @enum {string} */
                                run_type?: "TOOL" | "CHAIN" | "LLM" | "RETRIEVER" | "EMBEDDING" | "PROMPT" | "PARSER";
                                /** @enum {string} */
                                status?: "SUCCESS" | "ERROR" | "PENDING";
                                start_time?: string;
                                end_time?: string | null;
                                latency_seconds?: number;
                                inputs?: unknown;
                                outputs?: unknown;
                                /** Format: uuid */
                                project_id?: string;
                                /** Format: uuid */
                                trace_id?: string;
                                is_root?: boolean;
                                total_tokens?: number;
                                total_cost?: number;
                                tags?: string[];
                            } & {
                                [key: string]: unknown;
                            })[];
                        }[];
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["Error400Problem"];
            401: components["responses"]["Error401Problem"];
            403: components["responses"]["Error403Problem"];
            404: components["responses"]["Error404Problem"];
            413: components["responses"]["Error413Problem"];
            422: components["responses"]["Error422Problem"];
            431: components["responses"]["Error431Problem"];
            503: components["responses"]["Error503Problem"];
        };
    };
    post_v1_platform_datasets_dataset_id_examples: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        example_ids: string[];
                        /** Format: date-time */
                        as_of: string;
                    };
                };
            };
            400: components["responses"]["Error400Platform"];
            401: components["responses"]["Error401Platform"];
            403: components["responses"]["Error403Platform"];
            404: components["responses"]["Error404Platform"];
            409: components["responses"]["Error409Platform"];
            413: components["responses"]["Error413Platform"];
            415: components["responses"]["Error415Platform"];
            422: components["responses"]["Error422Platform"];
            431: components["responses"]["Error431Platform"];
            503: components["responses"]["Error503Platform"];
        };
    };
    patch_v1_platform_datasets_dataset_id_examples: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        example_ids: string[];
                        /** Format: date-time */
                        as_of: string;
                    };
                };
            };
            400: components["responses"]["Error400Platform"];
            401: components["responses"]["Error401Platform"];
            403: components["responses"]["Error403Platform"];
            404: components["responses"]["Error404Platform"];
            413: components["responses"]["Error413Platform"];
            415: components["responses"]["Error415Platform"];
            422: components["responses"]["Error422Platform"];
            431: components["responses"]["Error431Platform"];
            503: components["responses"]["Error503Platform"];
        };
    };
    post_v1_platform_datasets_examples_delete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExamplesDelete"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        example_ids: string[];
                    };
                };
            };
            400: components["responses"]["Error400Platform"];
            401: components["responses"]["Error401Platform"];
            403: components["responses"]["Error403Platform"];
            404: components["responses"]["Error404Platform"];
            409: components["responses"]["Error409Platform"];
            413: components["responses"]["Error413Platform"];
            422: components["responses"]["Error422Platform"];
            431: components["responses"]["Error431Platform"];
            503: components["responses"]["Error503Platform"];
        };
    };
    get_api_v1_examples: {
        parameters: {
            query?: {
                id?: string | string[];
                dataset?: string;
                as_of?: string;
                metadata?: string;
                full_text_contains?: string | string[];
                splits?: string | string[];
                filter?: string;
                limit?: string;
                offset?: string;
                order?: "recent" | "random" | "recently_created" | "id";
                random_seed?: string;
                descending?: "0" | "1" | "true" | "false" | "True" | "False";
                select?: ("id" | "created_at" | "modified_at" | "name" | "dataset_id" | "source_run_id" | "metadata" | "inputs" | "outputs" | "attachment_urls") | ("id" | "created_at" | "modified_at" | "name" | "dataset_id" | "source_run_id" | "metadata" | "inputs" | "outputs" | "attachment_urls")[];
                inline_s3_urls?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Example"][];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_examples: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExampleCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Example"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_examples: {
        parameters: {
            query: {
                example_ids: string | string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_examples_bulk: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExampleCreate"][];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Example"][];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_examples_bulk: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    dataset_id?: string | null;
                    inputs?: {
                        [key: string]: unknown;
                    } | null;
                    outputs?: {
                        [key: string]: unknown;
                    } | null;
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                    split?: (string[] | string) | null;
                    attachments_operations?: {
                        rename?: {
                            [key: string]: string;
                        } | null;
                        retain?: string[] | null;
                    } | null;
                    overwrite?: false | null;
                    /** Format: uuid */
                    id: string;
                }[];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        example_ids: string[];
                        /** Format: date-time */
                        as_of: string;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_examples_count: {
        parameters: {
            query?: {
                id?: string | string[];
                dataset?: string;
                as_of?: string;
                metadata?: string;
                full_text_contains?: string | string[];
                splits?: string | string[];
                filter?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": number;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_examples_example_id: {
        parameters: {
            query?: {
                as_of?: string;
                dataset?: string;
            };
            header?: never;
            path: {
                example_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Example"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_examples_example_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                example_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_examples_example_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                example_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExampleUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Example"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_bulk_exports_destinations: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkExportDestination"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_bulk_exports_destinations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BulkExportDestinationCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkExportDestination"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_bulk_exports_destinations_destination_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                destination_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkExportDestination"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_bulk_exports_destinations_destination_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                destination_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_bulk_exports_destinations_destination_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                destination_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BulkExportDestinationUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkExportDestination"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_bulk_exports_destinations_destination_id_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                destination_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_bulk_exports: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        tenant_id: string;
                        bulk_export_destination_id: string;
                        session_id: string;
                        start_time: string;
                        end_time: string | null;
                        interval_hours: number | null;
                        filter: string | null;
                        format: string;
                        format_version: string;
                        compression: string;
                        export_fields: string[] | null;
                        source_bulk_export_id: string | null;
                        status: string;
                        /** @description Why it failed */
                        error: string | null;
                        created_at: string;
                        updated_at: string;
                        started_at: string | null;
                        finished_at: string | null;
                        /** @description Progress */
                        progress: {
                            /** @description Null until the query has run */
                            rows_total: number | null;
                            rows_written: number;
                            bytes_written: number;
                            files_written: number;
                            /** @description 0 to 100, by rows */
                            percent: number;
                            /** @description Estimate from the rate so far, while it is running */
                            estimated_end: string | null;
                        };
                    }[];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_bulk_exports: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    bulk_export_destination_id: string;
                    /** Format: uuid */
                    session_id: string;
                    start_time: string;
                    end_time?: string | null;
                    filter?: string | null;
                    format?: "Parquet" | null;
                    format_version?: ("v1" | "v2_beta") | null;
                    compression?: ("none" | "gzip" | "snappy" | "zstandard" | "zstd") | null;
                    interval_hours?: number | null;
                    export_fields?: ("id" | "tenant_id" | "session_id" | "trace_id" | "parent_run_id" | "parent_run_ids" | "reference_example_id" | "name" | "run_type" | "start_time" | "end_time" | "status" | "is_root" | "dotted_order" | "trace_tier" | "inputs" | "outputs" | "error" | "extra" | "events" | "tags" | "feedback_stats" | "total_tokens" | "prompt_tokens" | "completion_tokens" | "total_cost" | "prompt_cost" | "completion_cost" | "first_token_time")[] | null;
                    all_experiments?: false | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        tenant_id: string;
                        bulk_export_destination_id: string;
                        session_id: string;
                        start_time: string;
                        end_time: string | null;
                        interval_hours: number | null;
                        filter: string | null;
                        format: string;
                        format_version: string;
                        compression: string;
                        export_fields: string[] | null;
                        source_bulk_export_id: string | null;
                        status: string;
                        /** @description Why it failed */
                        error: string | null;
                        created_at: string;
                        updated_at: string;
                        started_at: string | null;
                        finished_at: string | null;
                        /** @description Progress */
                        progress: {
                            /** @description Null until the query has run */
                            rows_total: number | null;
                            rows_written: number;
                            bytes_written: number;
                            files_written: number;
                            /** @description 0 to 100, by rows */
                            percent: number;
                            /** @description Estimate from the rate so far, while it is running */
                            estimated_end: string | null;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_bulk_exports_runs: {
        parameters: {
            query: {
                source_bulk_export_id: string;
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        bulk_export_id: string;
                        session_id: string;
                        status: string;
                        retry_number: number;
                        errors: {
                            [key: string]: unknown;
                        } | null;
                        created_at: string;
                        updated_at: string;
                        finished_at: string | null;
                        start_time: string;
                        end_time: string;
                        metadata: {
                            prefix: string;
                            start_time: string;
                            end_time: string;
                            execution_backend: string;
                            result: {
                                rows_written: number;
                                bytes_written: number;
                                exported_files: string[];
                                export_path: string;
                                latest_cursor: string | null;
                                pending_upload: null;
                            } | null;
                        };
                        /** @description Progress */
                        progress: {
                            /** @description Null until the query has run */
                            rows_total: number | null;
                            rows_written: number;
                            bytes_written: number;
                            files_written: number;
                            /** @description 0 to 100, by rows */
                            percent: number;
                            /** @description Estimate from the rate so far, while it is running */
                            estimated_end: string | null;
                        };
                    }[];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_bulk_exports_bulk_export_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bulk_export_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        tenant_id: string;
                        bulk_export_destination_id: string;
                        session_id: string;
                        start_time: string;
                        end_time: string | null;
                        interval_hours: number | null;
                        filter: string | null;
                        format: string;
                        format_version: string;
                        compression: string;
                        export_fields: string[] | null;
                        source_bulk_export_id: string | null;
                        status: string;
                        /** @description Why it failed */
                        error: string | null;
                        created_at: string;
                        updated_at: string;
                        started_at: string | null;
                        finished_at: string | null;
                        /** @description Progress */
                        progress: {
                            /** @description Null until the query has run */
                            rows_total: number | null;
                            rows_written: number;
                            bytes_written: number;
                            files_written: number;
                            /** @description 0 to 100, by rows */
                            percent: number;
                            /** @description Estimate from the rate so far, while it is running */
                            estimated_end: string | null;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_bulk_exports_bulk_export_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bulk_export_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    status?: string;
                } | null;
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        tenant_id: string;
                        bulk_export_destination_id: string;
                        session_id: string;
                        start_time: string;
                        end_time: string | null;
                        interval_hours: number | null;
                        filter: string | null;
                        format: string;
                        format_version: string;
                        compression: string;
                        export_fields: string[] | null;
                        source_bulk_export_id: string | null;
                        status: string;
                        /** @description Why it failed */
                        error: string | null;
                        created_at: string;
                        updated_at: string;
                        started_at: string | null;
                        finished_at: string | null;
                        /** @description Progress */
                        progress: {
                            /** @description Null until the query has run */
                            rows_total: number | null;
                            rows_written: number;
                            bytes_written: number;
                            files_written: number;
                            /** @description 0 to 100, by rows */
                            percent: number;
                            /** @description Estimate from the rate so far, while it is running */
                            estimated_end: string | null;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_bulk_exports_bulk_export_id_runs: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
            };
            header?: never;
            path: {
                bulk_export_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        bulk_export_id: string;
                        session_id: string;
                        status: string;
                        retry_number: number;
                        errors: {
                            [key: string]: unknown;
                        } | null;
                        created_at: string;
                        updated_at: string;
                        finished_at: string | null;
                        start_time: string;
                        end_time: string;
                        metadata: {
                            prefix: string;
                            start_time: string;
                            end_time: string;
                            execution_backend: string;
                            result: {
                                rows_written: number;
                                bytes_written: number;
                                exported_files: string[];
                                export_path: string;
                                latest_cursor: string | null;
                                pending_upload: null;
                            } | null;
                        };
                        /** @description Progress */
                        progress: {
                            /** @description Null until the query has run */
                            rows_total: number | null;
                            rows_written: number;
                            bytes_written: number;
                            files_written: number;
                            /** @description 0 to 100, by rows */
                            percent: number;
                            /** @description Estimate from the rate so far, while it is running */
                            estimated_end: string | null;
                        };
                    }[];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_bulk_exports_bulk_export_id_runs_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bulk_export_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        bulk_export_id: string;
                        session_id: string;
                        status: string;
                        retry_number: number;
                        errors: {
                            [key: string]: unknown;
                        } | null;
                        created_at: string;
                        updated_at: string;
                        finished_at: string | null;
                        start_time: string;
                        end_time: string;
                        metadata: {
                            prefix: string;
                            start_time: string;
                            end_time: string;
                            execution_backend: string;
                            result: {
                                rows_written: number;
                                bytes_written: number;
                                exported_files: string[];
                                export_path: string;
                                latest_cursor: string | null;
                                pending_upload: null;
                            } | null;
                        };
                        /** @description Progress */
                        progress: {
                            /** @description Null until the query has run */
                            rows_total: number | null;
                            rows_written: number;
                            bytes_written: number;
                            files_written: number;
                            /** @description 0 to 100, by rows */
                            percent: number;
                            /** @description Estimate from the rate so far, while it is running */
                            estimated_end: string | null;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceSettings"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_rate_limits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateLimits"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_docs_filter_language: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_docs_tracing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_docs_bulk_export: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_docs_export_permissions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_docs_versions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_api_key_current: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_api_key_current: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @default Default API key */
                    description?: string;
                    /** @default false */
                    read_only?: boolean;
                    expires_at?: string | null;
                    workspaces?: string[] | null;
                    role_id?: string | null;
                    org_role_id?: string | null;
                    default_workspace_id?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_api_key_current_pat_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs_current_personal_access_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_orgs_current_personal_access_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @default Default API key */
                    description?: string;
                    /** @default false */
                    read_only?: boolean;
                    expires_at?: string | null;
                    workspaces?: string[] | null;
                    role_id?: string | null;
                    org_role_id?: string | null;
                    default_workspace_id?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_orgs_current_personal_access_tokens_pat_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pat_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_api_key: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_api_key: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @default Default API key */
                    description?: string;
                    /** @default false */
                    read_only?: boolean;
                    expires_at?: string | null;
                    workspaces?: string[] | null;
                    role_id?: string | null;
                    org_role_id?: string | null;
                    default_workspace_id?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_api_key_api_key_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                api_key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs_current_service_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_orgs_current_service_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @default Default API key */
                    description?: string;
                    /** @default false */
                    read_only?: boolean;
                    expires_at?: string | null;
                    workspaces?: string[] | null;
                    role_id?: string | null;
                    org_role_id?: string | null;
                    default_workspace_id?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_orgs_current_service_keys_api_key_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                api_key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_internal_auth_self: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        organization_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** @enum {string} */
                        plan: "developer" | "plus" | "enterprise";
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_internal_auth_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    keys: string[];
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        version: string;
                        verdicts: ({
                            /** @enum {string} */
                            status: "unknown" | "revoked" | "elsewhere";
                        } | {
                            /** @constant */
                            status: "known";
                            expires_at: string | null;
                            principal: {
                                actor: {
                                    /** @enum {string} */
                                    kind: "api_key" | "service_key";
                                    id: string;
                                    name: string;
                                    user_id: string | null;
                                };
                                /** Format: uuid */
                                organization_id: string;
                                /** Format: uuid */
                                workspace_id: string;
                                /** @enum {string} */
                                plan: "developer" | "plus" | "enterprise";
                                permissions: ("assistants:read" | "assistants:write" | "threads:read" | "threads:write" | "runs:read" | "runs:create" | "runs:delete" | "runs:share" | "store:read" | "store:write" | "crons:read" | "crons:write" | "projects:read" | "projects:create" | "projects:update" | "projects:delete" | "feedback:read" | "feedback:create" | "feedback:update" | "feedback:delete" | "datasets:read" | "datasets:create" | "datasets:update" | "datasets:delete" | "bulk-exports:read" | "bulk-exports:manage" | "deployments:read" | "deployments:create" | "deployments:update" | "deployments:delete" | "workspaces:read" | "workspaces:manage" | "audit:read" | "organization:pats:create" | "organization:read" | "organization:manage")[];
                            };
                        })[];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_internal_auth_changes: {
        parameters: {
            query?: {
                version?: string;
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        version: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs_current_members: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        organization_id: string;
                        members: components["schemas"]["OrganizationMember"][];
                        pending: components["schemas"]["PendingMember"][];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_orgs_current_members: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: email */
                    email: string;
                    full_name?: string | null;
                    read_only?: boolean | null;
                    role_id?: string | null;
                    workspace_ids?: string[] | null;
                    workspace_role_id?: string | null;
                    password?: null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingMember"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs_current_members_active: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
                emails?: string | string[];
                user_ids?: string | string[];
                q?: string;
                is_disabled?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationMember"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs_current_members_pending: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
                emails?: string | string[];
                user_ids?: string | string[];
                q?: string;
                is_disabled?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingMember"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_orgs_current_members_batch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: email */
                    email: string;
                    full_name?: string | null;
                    read_only?: boolean | null;
                    role_id?: string | null;
                    workspace_ids?: string[] | null;
                    workspace_role_id?: string | null;
                    password?: null;
                }[];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingMember"][];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_orgs_current_members_identity_id_pending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identity_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_orgs_current_members_identity_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identity_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_orgs_current_members_identity_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identity_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    role_id?: string | null;
                    full_name?: string | null;
                    password?: null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_workspaces_current_members: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        tenant_id: string;
                        members: components["schemas"]["WorkspaceMember"][];
                        pending: components["schemas"]["PendingMember"][];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_workspaces_current_members: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    user_id?: string | null;
                    ls_user_id?: string | null;
                    org_identity_id?: string | null;
                    read_only?: boolean | null;
                    role_id?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceMember"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_workspaces_current_members_active: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
                emails?: string | string[];
                user_ids?: string | string[];
                q?: string;
                is_disabled?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceMember"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_workspaces_current_members_pending: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
                emails?: string | string[];
                user_ids?: string | string[];
                q?: string;
                is_disabled?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingMember"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_workspaces_current_members_identity_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identity_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_workspaces_current_members_identity_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identity_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    role_id: string;
                    read_only?: boolean | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_workspaces: {
        parameters: {
            query?: {
                include_deleted?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VisibleWorkspace"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_workspaces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    id?: string;
                    display_name: string;
                    tenant_handle?: string | null;
                    /**
                     * @default enterprise
                     * @enum {string}
                     */
                    plan?: "developer" | "plus" | "enterprise";
                    organization_id?: string | null;
                    /**
                     * @default false
                     * @constant
                     */
                    is_personal?: false;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_tenants: {
        parameters: {
            query?: {
                include_deleted?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VisibleWorkspace"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_tenants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    id?: string;
                    display_name: string;
                    tenant_handle?: string | null;
                    /**
                     * @default enterprise
                     * @enum {string}
                     */
                    plan?: "developer" | "plus" | "enterprise";
                    organization_id?: string | null;
                    /**
                     * @default false
                     * @constant
                     */
                    is_personal?: false;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_workspaces_workspace_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspace_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_workspaces_workspace_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspace_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    display_name?: string;
                    /** @enum {string} */
                    plan?: "developer" | "plus" | "enterprise";
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationSummary"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs_current: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs_current_info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationInfo"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_orgs_current_info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    display_name: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationInfo"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_auth_public: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicAuthInfo"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs_permissions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        description: string;
                        /** @enum {string} */
                        access_scope: "organization" | "workspace";
                    }[];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_orgs_current_roles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Role"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_orgs_current_roles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    display_name: string;
                    description: string;
                    permissions: ("assistants:read" | "assistants:write" | "threads:read" | "threads:write" | "runs:read" | "runs:create" | "runs:delete" | "runs:share" | "store:read" | "store:write" | "crons:read" | "crons:write" | "projects:read" | "projects:create" | "projects:update" | "projects:delete" | "feedback:read" | "feedback:create" | "feedback:update" | "feedback:delete" | "datasets:read" | "datasets:create" | "datasets:update" | "datasets:delete" | "bulk-exports:read" | "bulk-exports:manage" | "deployments:read" | "deployments:create" | "deployments:update" | "deployments:delete" | "workspaces:read" | "workspaces:manage" | "audit:read" | "organization:pats:create" | "organization:read" | "organization:manage")[];
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Role"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_api_v1_orgs_current_roles_role_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                role_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Role"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    patch_api_v1_orgs_current_roles_role_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                role_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    display_name: string;
                    description: string;
                    permissions: ("assistants:read" | "assistants:write" | "threads:read" | "threads:write" | "runs:read" | "runs:create" | "runs:delete" | "runs:share" | "store:read" | "store:write" | "crons:read" | "crons:write" | "projects:read" | "projects:create" | "projects:update" | "projects:delete" | "feedback:read" | "feedback:create" | "feedback:update" | "feedback:delete" | "datasets:read" | "datasets:create" | "datasets:update" | "datasets:delete" | "bulk-exports:read" | "bulk-exports:manage" | "deployments:read" | "deployments:create" | "deployments:update" | "deployments:delete" | "workspaces:read" | "workspaces:manage" | "audit:read" | "organization:pats:create" | "organization:read" | "organization:manage")[];
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Role"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_audit_logs: {
        parameters: {
            query: {
                start_time: string;
                end_time: string;
                workspace_id?: string;
                operations?: string | string[];
                actor_id?: string;
                target?: string;
                limit?: string;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListAuditLogsOCSFResponse"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_audit_logs_export: {
        parameters: {
            query: {
                start_time: string;
                end_time: string;
                workspace_id?: string;
                operations?: string | string[];
                actor_id?: string;
                target?: string;
                format?: "ndjson" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    everywhere?: boolean | null;
                };
            };
        };
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Error400"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_api_v1_auth_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    current_password: string;
                    new_password: string;
                };
            };
        };
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_auth_sign_in_methods: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        password: boolean;
                        oidc: {
                            issuer: string;
                            path: string;
                        } | null;
                    };
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_auth_oidc_login: {
        parameters: {
            query?: {
                return_to?: string;
                error_to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            431: components["responses"]["Error431"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    get_auth_oidc_callback: {
        parameters: {
            query?: {
                code?: string;
                state?: string;
                iss?: string;
                error?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Error400"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            431: components["responses"]["Error431"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_ok: {
        parameters: {
            query?: {
                check_db?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        checks?: {
                            [key: string]: {
                                ms: number;
                            };
                        };
                    };
                };
            };
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            /** @description Success */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: false;
                        detail: string;
                        checks?: {
                            [key: string]: {
                                ok: boolean;
                                reason?: string;
                            } & {
                                [key: string]: unknown;
                            };
                        };
                    };
                };
            };
        };
    };
    get_api_v1_ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        checks: {
                            [key: string]: {
                                ok: boolean;
                                reason?: string;
                            } & {
                                [key: string]: unknown;
                            };
                        };
                    };
                };
            };
            431: components["responses"]["Error431"];
            /** @description Success */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: false;
                        detail: string;
                        checks?: {
                            [key: string]: {
                                ok: boolean;
                                reason?: string;
                            } & {
                                [key: string]: unknown;
                            };
                        };
                    };
                };
            };
        };
    };
    get_api_v1_info_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        checks?: {
                            [key: string]: {
                                ms: number;
                            };
                        };
                    };
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_api_v1_info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        version: string;
                        git_sha: string;
                        license_expiration_time: string | null;
                        batch_ingest_config: {
                            use_multipart_endpoint: boolean;
                            scale_up_qsize_trigger: number;
                            scale_up_nthreads_limit: number;
                            scale_down_nempty_trigger: number;
                            size_limit: number;
                            size_limit_bytes: number;
                        };
                        instance_flags: {
                            [key: string]: unknown;
                        };
                        customer_info: null;
                        sdk_versions: null;
                        heddle_version: string;
                    };
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_openapi_json: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        openapi: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_docs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_metrics: {
        parameters: {
            query?: {
                format?: "prometheus" | "json";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                    "application/json": ({
                        name: string;
                    } & {
                        [key: string]: unknown;
                    })[];
                };
            };
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        version: string;
                        docs: string;
                        openapi: string;
                    };
                };
            };
            /** @description Done; no content */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
}
