/** What the agent server's OpenAPI document says. Written by scripts/console-api.ts. */
export interface paths {
    "/runs/crons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a cron whose runs each get their own thread */
        post: operations["post_runs_crons"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/runs/crons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a cron whose runs use one thread */
        post: operations["post_threads_thread_id_runs_crons"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/crons/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Search crons */
        post: operations["post_runs_crons_search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/crons/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Count crons */
        post: operations["post_runs_crons_count"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/crons/{cron_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a cron */
        get: operations["get_runs_crons_cron_id"];
        put?: never;
        post?: never;
        /** Delete a cron; runs that it has created continue */
        delete: operations["delete_runs_crons_cron_id"];
        options?: never;
        head?: never;
        /** Update a cron */
        patch: operations["patch_runs_crons_cron_id"];
        trace?: never;
    };
    "/runs/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create several stateless runs */
        post: operations["post_runs_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel runs by status, or several runs of a thread */
        post: operations["post_runs_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a stateless run and stream its output */
        post: operations["post_runs_stream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a stateless run and wait for its output */
        post: operations["post_runs_wait"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a stateless run in the background */
        post: operations["post_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{run_id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Join the stream of a stateless run */
        get: operations["get_runs_run_id_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{run_id}/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Wait for the output of a stateless run */
        get: operations["get_runs_run_id_join"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/runs/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a run on a thread and stream its output */
        post: operations["post_threads_thread_id_runs_stream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/runs/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a run on a thread and wait for its output */
        post: operations["post_threads_thread_id_runs_wait"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of a thread, newest first */
        get: operations["get_threads_thread_id_runs"];
        put?: never;
        /** Create a run on a thread in the background */
        post: operations["post_threads_thread_id_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a run */
        get: operations["get_threads_thread_id_runs_run_id"];
        put?: never;
        post?: never;
        /** Delete a finished run and its checkpoints */
        delete: operations["delete_threads_thread_id_runs_run_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/runs/{run_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a run: interrupt keeps what it wrote, rollback deletes it */
        post: operations["post_threads_thread_id_runs_run_id_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/runs/{run_id}/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Wait for the output of a run */
        get: operations["get_threads_thread_id_runs_run_id_join"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/runs/{run_id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Join the stream of a run */
        get: operations["get_threads_thread_id_runs_run_id_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assistants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create an assistant */
        post: operations["post_assistants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assistants/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Search assistants */
        post: operations["post_assistants_search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assistants/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Count assistants */
        post: operations["post_assistants_count"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assistants/{assistant_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an assistant */
        get: operations["get_assistants_assistant_id"];
        put?: never;
        post?: never;
        /** Delete an assistant, its versions and its runs */
        delete: operations["delete_assistants_assistant_id"];
        options?: never;
        head?: never;
        /** Update an assistant; every change creates a new version */
        patch: operations["patch_assistants_assistant_id"];
        trace?: never;
    };
    "/assistants/{assistant_id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the assistant's graph */
        get: operations["get_assistants_assistant_id_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assistants/{assistant_id}/schemas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the JSON schemas of the assistant's graph */
        get: operations["get_assistants_assistant_id_schemas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assistants/{assistant_id}/subgraphs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the schemas of the graph's subgraphs */
        get: operations["get_assistants_assistant_id_subgraphs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assistants/{assistant_id}/subgraphs/{namespace}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the schemas of the subgraphs under a namespace */
        get: operations["get_assistants_assistant_id_subgraphs_namespace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assistants/{assistant_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List an assistant's versions, newest first */
        post: operations["post_assistants_assistant_id_versions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assistants/{assistant_id}/latest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make an earlier version the current one */
        post: operations["post_assistants_assistant_id_latest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a thread */
        post: operations["post_threads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Search threads */
        post: operations["post_threads_search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Count threads */
        post: operations["post_threads_count"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/prune": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delete threads, or all but their latest checkpoint */
        post: operations["post_threads_prune"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a thread */
        get: operations["get_threads_thread_id"];
        put?: never;
        post?: never;
        /** Delete a thread; its runs are cancelled first */
        delete: operations["delete_threads_thread_id"];
        options?: never;
        head?: never;
        /** Merge into a thread's metadata, or set its time to live */
        patch: operations["patch_threads_thread_id"];
        trace?: never;
    };
    "/threads/{thread_id}/copy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Copy a thread with its history */
        post: operations["post_threads_thread_id_copy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the number of rows and bytes of a thread */
        get: operations["get_threads_thread_id_storage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a thread's current state */
        get: operations["get_threads_thread_id_state"];
        put?: never;
        /** Update a thread's state by hand */
        post: operations["post_threads_thread_id_state"];
        delete?: never;
        options?: never;
        head?: never;
        /** Merge into a thread's metadata, like PATCH of the thread */
        patch: operations["patch_threads_thread_id_state"];
        trace?: never;
    };
    "/threads/{thread_id}/state/{checkpoint_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a thread's state at a checkpoint */
        get: operations["get_threads_thread_id_state_checkpoint_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/state/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get the state of a thread or of a subgraph at a checkpoint */
        post: operations["post_threads_thread_id_state_checkpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a thread's states, newest first */
        get: operations["get_threads_thread_id_history"];
        put?: never;
        /** Search a thread's states, newest first */
        post: operations["post_threads_thread_id_history"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a command: start a run, answer an interrupt, read the state */
        post: operations["post_threads_thread_id_commands"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/stream/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Exchange commands and events over one WebSocket */
        get: operations["get_threads_thread_id_stream_events"];
        put?: never;
        /** Stream the events of all runs of a thread */
        post: operations["post_threads_thread_id_stream_events"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{thread_id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream all runs of a thread until the client disconnects */
        get: operations["get_threads_thread_id_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answer 405: the server sends no messages of its own */
        get: operations["get_mcp"];
        put?: never;
        /** Send a message of the Model Context Protocol; every assistant is a tool */
        post: operations["post_mcp"];
        /** Answer 404: the server is stateless and has no sessions */
        delete: operations["delete_mcp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/{assistant_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send an A2A request to an assistant */
        post: operations["post_a2a_assistant_id"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/agent-card.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an assistant's agent card */
        get: operations["get_well_known_agent_card_json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an item, or null */
        get: operations["get_store_items"];
        /** Store or replace an item */
        put: operations["put_store_items"];
        post?: never;
        /** Delete an item */
        delete: operations["delete_store_items"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/items/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Search items under a namespace, newest first or by semantic similarity */
        post: operations["post_store_items_search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/namespaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List namespaces */
        post: operations["post_store_namespaces"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhook deliveries, newest first */
        get: operations["get_webhooks_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook delivery with its attempts */
        get: operations["get_webhooks_deliveries_delivery_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries/{delivery_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a webhook again, with the same id and content */
        post: operations["post_webhooks_deliveries_delivery_id_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List pending runs with the reason, running runs, and servers */
        get: operations["get_queue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ok": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check liveness: fails when a component has failed for longer than the grace period; with check_db, all components */
        get: operations["get_ok"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check readiness: the server and all its dependencies */
        get: operations["get_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the version and capabilities of this server */
        get: operations["get_info"];
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
        Cron: {
            /** Format: uuid */
            cron_id: string;
            /** Format: uuid */
            assistant_id: string;
            thread_id: string | null;
            schedule: string;
            timezone: string | null;
            end_time: string | null;
            enabled: boolean;
            /** @enum {string} */
            on_run_completed: "delete" | "keep";
            payload: {
                [key: string]: unknown;
            };
            metadata: {
                [key: string]: unknown;
            };
            user_id: string | null;
            next_run_date: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        CronCreate: {
            /** @description null or absent: continue from the thread's state. */
            input?: unknown;
            config?: ({
                tags?: string[] | null;
                run_name?: string | null;
                recursion_limit?: number | null;
                configurable?: {
                    [key: string]: unknown;
                } | null;
            } & {
                [key: string]: unknown;
            }) | null;
            context?: unknown;
            webhook?: string | null;
            interrupt_before?: ("*" | string[]) | null;
            interrupt_after?: ("*" | string[]) | null;
            multitask_strategy?: ("reject" | "rollback" | "interrupt" | "enqueue") | null;
            stream_mode?: (("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools")[]) | null;
            stream_subgraphs?: boolean | null;
            stream_resumable?: boolean | null;
            durability?: ("sync" | "async" | "exit") | null;
            /** @description Deprecated: false means durability exit. */
            checkpoint_during?: boolean | null;
            /** @description Not available for crons: their runs start with input. */
            command?: null;
            /** @description Not available for crons: their runs continue from the thread's state. */
            checkpoint?: null;
            /** @description Not available for crons: their runs continue from the thread's state. */
            checkpoint_id?: null;
            /** @description Not available for crons: the schedule determines when runs start. */
            after_seconds?: null;
            /** @description Not available for crons: no client waits for their links. */
            feedback_keys?: null;
            /** @description Not available for crons: their runs are traced like all others. */
            langsmith_tracer?: null;
            /** @description Not available for crons: use on_run_completed. */
            on_completion?: null;
            /** @description Not available for crons; may only be false. */
            strict_resume?: false | null;
            /** @description minute, hour, day of month, month, day of week; or @daily etc. */
            schedule: string;
            assistant_id: string;
            metadata?: {
                [key: string]: unknown;
            } | null;
            timezone?: string | null;
            end_time?: string | null;
            enabled?: boolean | null;
            on_run_completed?: ("delete" | "keep") | null;
        };
        CronSearch: {
            assistant_id?: string | null;
            thread_id?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            enabled?: boolean | null;
            limit?: number | null;
            offset?: number | null;
            sort_by?: ("cron_id" | "assistant_id" | "thread_id" | "next_run_date" | "end_time" | "created_at" | "updated_at") | null;
            sort_order?: ("asc" | "desc") | null;
            select?: ("cron_id" | "assistant_id" | "thread_id" | "schedule" | "timezone" | "end_time" | "enabled" | "on_run_completed" | "payload" | "metadata" | "user_id" | "next_run_date" | "created_at" | "updated_at" | "now")[] | null;
        };
        CronCount: {
            assistant_id?: string | null;
            thread_id?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            enabled?: boolean | null;
        };
        CronPatch: {
            /** @description null or absent: continue from the thread's state. */
            input?: unknown;
            config?: ({
                tags?: string[] | null;
                run_name?: string | null;
                recursion_limit?: number | null;
                configurable?: {
                    [key: string]: unknown;
                } | null;
            } & {
                [key: string]: unknown;
            }) | null;
            context?: unknown;
            webhook?: string | null;
            interrupt_before?: ("*" | string[]) | null;
            interrupt_after?: ("*" | string[]) | null;
            multitask_strategy?: ("reject" | "rollback" | "interrupt" | "enqueue") | null;
            stream_mode?: (("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools")[]) | null;
            stream_subgraphs?: boolean | null;
            stream_resumable?: boolean | null;
            durability?: ("sync" | "async" | "exit") | null;
            /** @description Deprecated: false means durability exit. */
            checkpoint_during?: boolean | null;
            /** @description Not available for crons: their runs start with input. */
            command?: null;
            /** @description Not available for crons: their runs continue from the thread's state. */
            checkpoint?: null;
            /** @description Not available for crons: their runs continue from the thread's state. */
            checkpoint_id?: null;
            /** @description Not available for crons: the schedule determines when runs start. */
            after_seconds?: null;
            /** @description Not available for crons: no client waits for their links. */
            feedback_keys?: null;
            /** @description Not available for crons: their runs are traced like all others. */
            langsmith_tracer?: null;
            /** @description Not available for crons: use on_run_completed. */
            on_completion?: null;
            /** @description Not available for crons; may only be false. */
            strict_resume?: false | null;
            schedule?: string | null;
            assistant_id?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            timezone?: string | null;
            end_time?: string | null;
            enabled?: boolean | null;
            on_run_completed?: ("delete" | "keep") | null;
        };
        Run: {
            /** Format: uuid */
            run_id: string;
            /** Format: uuid */
            thread_id: string;
            /** Format: uuid */
            assistant_id: string;
            created_at: string;
            updated_at: string;
            /** @enum {string} */
            status: "pending" | "running" | "success" | "error" | "timeout" | "interrupted";
            metadata: {
                [key: string]: unknown;
            };
            kwargs: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            multitask_strategy: "reject" | "rollback" | "interrupt" | "enqueue";
            error: ({
                error: string;
                message: string;
            } & {
                [key: string]: unknown;
            }) | null;
            cancel_reason: string | null;
            /** @description Ids of the interrupts that were pending on the thread and that the run's new input discards. */
            discarded_interrupts: string[] | null;
            /** @description Why the run's stream lacks frames. Absent if no frames are known to be missing. */
            stream_incomplete?: string;
        };
        Assistant: {
            /** Format: uuid */
            assistant_id: string;
            graph_id: string;
            name: string;
            description: string | null;
            config: {
                [key: string]: unknown;
            } | null;
            context: unknown;
            metadata: {
                [key: string]: unknown;
            };
            version: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        } & {
            [key: string]: unknown;
        };
        AssistantCreate: {
            graph_id: string;
            assistant_id?: string | null;
            /** @default {} */
            config: components["schemas"]["Config"] | null;
            /** @default {} */
            context: unknown;
            metadata?: {
                [key: string]: unknown;
            } | null;
            if_exists?: ("raise" | "do_nothing") | null;
            name?: string | null;
            description?: string | null;
        };
        Config: {
            tags?: string[] | null;
            run_name?: string | null;
            recursion_limit?: number | null;
            configurable?: {
                [key: string]: unknown;
            } | null;
        } & {
            [key: string]: unknown;
        };
        AssistantSearch: {
            metadata?: {
                [key: string]: unknown;
            } | null;
            graph_id?: string | null;
            name?: string | null;
            limit?: number | null;
            offset?: number | null;
            sort_by?: ("assistant_id" | "graph_id" | "name" | "created_at" | "updated_at") | null;
            sort_order?: ("asc" | "desc") | null;
            select?: ("assistant_id" | "graph_id" | "name" | "description" | "config" | "context" | "metadata" | "version" | "created_at" | "updated_at")[] | null;
        };
        AssistantCount: {
            metadata?: {
                [key: string]: unknown;
            } | null;
            graph_id?: string | null;
            name?: string | null;
        };
        AssistantPatch: {
            graph_id?: string | null;
            config?: components["schemas"]["Config"] | null;
            context?: unknown;
            metadata?: {
                [key: string]: unknown;
            } | null;
            name?: string | null;
            description?: string | null;
        };
        AssistantVersion: {
            /** Format: uuid */
            assistant_id: string;
            graph_id: string;
            name: string;
            description: string | null;
            config: {
                [key: string]: unknown;
            } | null;
            context: unknown;
            metadata: {
                [key: string]: unknown;
            };
            version: number;
            /** Format: date-time */
            created_at: string;
        } & {
            [key: string]: unknown;
        };
        Thread: {
            /** Format: uuid */
            thread_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: date-time */
            state_updated_at: string;
            metadata: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            status: "idle" | "busy" | "interrupted" | "error";
            config?: {
                [key: string]: unknown;
            };
            values: unknown;
            interrupts: {
                [key: string]: unknown[];
            };
            error: unknown;
            ttl?: {
                /** @enum {string} */
                strategy: "delete" | "keep_latest";
                /** @description Minutes since the last activity. */
                ttl: number;
                expires_at: string | null;
            } | null;
        } & {
            [key: string]: unknown;
        };
        ThreadCreate: {
            thread_id?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            graph_id?: string | null;
            if_exists?: ("raise" | "do_nothing") | null;
            supersteps?: {
                updates: {
                    values: unknown;
                    command?: {
                        [key: string]: unknown;
                    } | null;
                    as_node: string;
                }[];
            }[] | null;
            /** @description Minutes, or an object with a strategy. Null: the thread never expires. */
            ttl?: (number | {
                ttl: number;
                strategy?: ("delete" | "keep_latest") | null;
            }) | null;
        };
        ThreadSearch: {
            metadata?: {
                [key: string]: unknown;
            } | null;
            values?: {
                [key: string]: unknown;
            } | null;
            status?: ("idle" | "busy" | "interrupted" | "error") | null;
            ids?: string[] | null;
            limit?: number | null;
            offset?: number | null;
            sort_by?: ("thread_id" | "status" | "created_at" | "updated_at" | "state_updated_at") | null;
            sort_order?: ("asc" | "desc") | null;
            select?: ("thread_id" | "created_at" | "updated_at" | "state_updated_at" | "metadata" | "config" | "context" | "status" | "values" | "interrupts" | "error")[] | null;
            extract?: {
                [key: string]: string;
            } | null;
        };
        ThreadCount: {
            metadata?: {
                [key: string]: unknown;
            } | null;
            values?: {
                [key: string]: unknown;
            } | null;
            status?: ("idle" | "busy" | "interrupted" | "error") | null;
        };
        ThreadPatch: {
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Minutes, or an object with a strategy. Null: the thread never expires. */
            ttl?: (number | {
                ttl: number;
                strategy?: ("delete" | "keep_latest") | null;
            }) | null;
        };
        ThreadStorage: {
            /** Format: uuid */
            thread_id: string;
            total_bytes: number;
            checkpoints: {
                count: number;
                bytes: number;
            };
            channel_values: {
                count: number;
                bytes: number;
                by_channel: {
                    [key: string]: {
                        versions: number;
                        bytes: number;
                    };
                };
            };
            pending_writes: {
                count: number;
                bytes: number;
            };
            runs: {
                count: number;
                bytes: number;
            };
            stream_frames: {
                count: number;
                bytes: number;
            };
            protocol_events: {
                count: number;
                bytes: number;
            };
        };
        Checkpoint: {
            thread_id: string;
            checkpoint_id: string;
            checkpoint_ns: string;
            checkpoint_map?: {
                [key: string]: unknown;
            } | null;
        } & {
            [key: string]: unknown;
        };
        ThreadStateUpdate: {
            values?: {
                [key: string]: unknown;
            } | unknown[] | null;
            as_node?: string | null;
            checkpoint_id?: string | null;
            checkpoint?: {
                checkpoint_id?: string | null;
                checkpoint_ns?: string | null;
                checkpoint_map?: {
                    [key: string]: unknown;
                } | null;
            } | null;
        };
        ThreadState: {
            values: unknown;
            next: string[];
            tasks: {
                [key: string]: unknown;
            }[];
            metadata?: {
                [key: string]: unknown;
            };
            created_at: string | null;
            checkpoint: components["schemas"]["Checkpoint"] | null;
            parent_checkpoint: components["schemas"]["Checkpoint"] | null;
            checkpoint_id?: string | null;
            parent_checkpoint_id?: string | null;
            interrupts?: unknown[];
        } & {
            [key: string]: unknown;
        };
        ThreadStateSearch: {
            limit?: number | null;
            before?: (string | {
                configurable: {
                    checkpoint_id?: string | null;
                    checkpoint_ns?: string | null;
                    checkpoint_map?: {
                        [key: string]: unknown;
                    } | null;
                };
            } | {
                checkpoint_id?: string | null;
                checkpoint_ns?: string | null;
                checkpoint_map?: {
                    [key: string]: unknown;
                } | null;
            }) | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            checkpoint?: {
                checkpoint_id?: string | null;
                checkpoint_ns?: string | null;
                checkpoint_map?: {
                    [key: string]: unknown;
                } | null;
            } | null;
        };
        ProtocolAnswer: {
            /** @constant */
            type: "success";
            id: number;
            result: {
                [key: string]: unknown;
            };
            meta?: {
                thread_id?: string;
                applied_through_seq?: number;
            };
        } | {
            /** @constant */
            type: "error";
            id: number | null;
            /** @enum {string} */
            error: "invalid_argument" | "unknown_command" | "unknown_error" | "no_such_run" | "no_such_subscription" | "no_such_namespace" | "no_such_interrupt" | "no_such_checkpoint" | "permission_denied" | "not_supported";
            message: string;
            meta?: {
                thread_id?: string;
                applied_through_seq?: number;
            };
        };
        ProtocolCommand: {
            id: number;
            method: string;
            params?: {
                [key: string]: unknown;
            } | null;
        };
        EventStreamRequest: {
            /** @description values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom, custom:<name> */
            channels: string[];
            /** @description Namespace prefixes; a segment without a task id matches every task of that name. */
            namespaces?: string[][] | null;
            /** @description Maximum number of segments after a prefix. */
            depth?: number | null;
            /** @description Only events after this sequence number. */
            since?: number | null;
        };
        JsonRpcAnswer: {
            /** @constant */
            jsonrpc: "2.0";
            id: string | number | null;
            result?: unknown;
            error?: {
                code: number;
                message: string;
                data?: unknown;
            };
        };
        AgentCard: {
            name: string;
            description: string;
            url: string;
            version: string;
            protocolVersion: string;
            preferredTransport: string;
            supportedInterfaces: {
                url: string;
                protocolBinding: string;
                protocolVersion: string;
            }[];
            capabilities: {
                [key: string]: unknown;
            };
            defaultInputModes: string[];
            defaultOutputModes: string[];
            skills: {
                id: string;
                name: string;
                description: string;
                tags: string[];
            }[];
        };
        ItemPut: {
            namespace: string[];
            key: string;
            value: {
                [key: string]: unknown;
            };
            /** @description Paths that semantic search indexes instead of store.index.fields; false: not indexed. */
            index?: false | string[] | null;
            /** @description Minutes until the item expires; null: never; absent: store.ttl.default_ttl applies. */
            ttl?: number | null;
        };
        Item: {
            namespace: string[];
            key: string;
            value: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            score?: number;
        };
        ItemSearch: {
            namespace_prefix?: string[] | null;
            filter?: {
                [key: string]: unknown;
            } | null;
            limit?: number | null;
            offset?: number | null;
            /** @description Search by semantic similarity instead of by time; requires store.index. */
            query?: string | null;
            refresh_ttl?: boolean | null;
        };
        WebhookDelivery: {
            /** Format: uuid */
            delivery_id: string;
            /** Format: uuid */
            run_id: string;
            /** Format: uuid */
            thread_id: string;
            run_status: string;
            url: string;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
            attempts: number;
            /** Format: date-time */
            created_at: string;
            next_attempt_at: string | null;
            finished_at: string | null;
        };
        WebhookDeliveryWithLog: {
            /** Format: uuid */
            delivery_id: string;
            /** Format: uuid */
            run_id: string;
            /** Format: uuid */
            thread_id: string;
            run_status: string;
            url: string;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
            attempts: number;
            /** Format: date-time */
            created_at: string;
            next_attempt_at: string | null;
            finished_at: string | null;
            log: {
                attempt: number;
                /** Format: date-time */
                started_at: string;
                duration_ms: number;
                status_code: number | null;
                error: string | null;
            }[];
            payload: {
                [key: string]: unknown;
            };
        };
        Queue: {
            at: string;
            /** @description Maximum number of concurrent runs of the answering server */
            slots: number;
            counts: {
                pending: number;
                running: number;
            };
            /** @description Creation time of the oldest run that could start */
            oldest_pending_at: string | null;
            servers: components["schemas"]["QueueServer"][];
            /** @description In claim order */
            waiting: components["schemas"]["WaitingRun"][];
            /** @description Longest running first */
            running: components["schemas"]["RunningRun"][];
        };
        QueueServer: {
            /** Format: uuid */
            server_id: string;
            host_name: string;
            started_at: string;
            heartbeat_at: string;
            /** @description Whether its lease is valid */
            is_alive: boolean;
            /** @description Whether this server answered the request */
            is_this: boolean;
            graphs: string[] | null;
            running: number;
        };
        WaitingRun: {
            /** Format: uuid */
            run_id: string;
            /** Format: uuid */
            thread_id: string;
            /** Format: uuid */
            assistant_id: string;
            graph_id: string | null;
            created_at: string;
            /** @description Earliest start */
            available_at: string;
            /** @description Attempts so far */
            attempt: number;
            /**
             * @description Why it does not run: the first reason of the list that applies
             * @enum {string}
             */
            reason: "starts_later" | "thread_busy" | "behind_another" | "no_server_has_graph" | "no_free_slot";
            /** @description The run that occupies its thread, or precedes it */
            waits_for: string | null;
        };
        RunningRun: {
            /** Format: uuid */
            run_id: string;
            /** Format: uuid */
            thread_id: string;
            /** Format: uuid */
            assistant_id: string;
            graph_id: string | null;
            server_id: string | null;
            /** @description Start of its first attempt */
            started_at: string | null;
            attempt: number;
            /** @description Attempts lost with their graph host since its last checkpoint */
            failures: number;
            cancelling: boolean;
        };
    };
    responses: {
        /** @description The request is malformed or incomplete */
        Error400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
            };
        };
        /** @description No valid API key or session */
        Error401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
            };
        };
        /** @description The API key or session lacks the permission */
        Error403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
            };
        };
        /** @description The resource does not exist */
        Error404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
            };
        };
        /** @description The body exceeds the size limit */
        Error413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
            };
        };
        /** @description The request is well-formed but invalid */
        Error422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
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
                "text/plain": string;
            };
        };
        /** @description Conflict with an existing resource or a running operation */
        Error409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
            };
        };
        /** @description An upstream service failed */
        Error502: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
            };
        };
        /** @description The resource is permanently gone */
        Error410: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
            };
        };
        /** @description The request must upgrade to the protocol in the Upgrade header */
        Error426: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
            };
        };
        /** @description The method is not allowed */
        Error405: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": string;
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
    post_runs_crons: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CronCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cron"];
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
    post_threads_thread_id_runs_crons: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CronCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cron"];
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
    post_runs_crons_search: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CronSearch"];
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
                        cron_id?: string;
                        /** Format: uuid */
                        assistant_id?: string;
                        thread_id?: string | null;
                        schedule?: string;
                        timezone?: string | null;
                        end_time?: string | null;
                        enabled?: boolean;
                        /** @enum {string} */
                        on_run_completed?: "delete" | "keep";
                        payload?: {
                            [key: string]: unknown;
                        };
                        metadata?: {
                            [key: string]: unknown;
                        };
                        user_id?: string | null;
                        next_run_date?: string | null;
                        /** Format: date-time */
                        created_at?: string;
                        /** Format: date-time */
                        updated_at?: string;
                        now?: string;
                    }[];
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
    post_runs_crons_count: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CronCount"];
            };
        };
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
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_runs_crons_cron_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cron_id: string;
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
                    "application/json": components["schemas"]["Cron"];
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
    delete_runs_crons_cron_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cron_id: string;
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
    patch_runs_crons_cron_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cron_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CronPatch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cron"];
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
    post_runs_batch: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Graph id or UUID of the assistant. */
                    assistant_id: string;
                    /** @description null or absent: continue from the thread's state. */
                    input?: unknown;
                    /** @description Resume, update or redirect instead of new input. */
                    command?: {
                        update?: ({
                            [key: string]: unknown;
                        } | [
                            string,
                            unknown
                        ][]) | null;
                        resume?: unknown;
                        goto?: (string | {
                            node: string;
                            input?: unknown;
                        } | (string | {
                            node: string;
                            input?: unknown;
                        })[]) | null;
                    } | null;
                    config?: ({
                        tags?: string[] | null;
                        run_name?: string | null;
                        recursion_limit?: number | null;
                        configurable?: {
                            [key: string]: unknown;
                        } | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    context?: unknown;
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                    checkpoint_id?: string | null;
                    checkpoint?: {
                        checkpoint_id?: string | null;
                        checkpoint_ns?: string | null;
                        checkpoint_map?: {
                            [key: string]: unknown;
                        } | null;
                    } | null;
                    interrupt_before?: ("*" | string[]) | null;
                    interrupt_after?: ("*" | string[]) | null;
                    stream_mode?: (("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools")[]) | null;
                    stream_subgraphs?: boolean | null;
                    stream_resumable?: boolean | null;
                    multitask_strategy?: ("reject" | "rollback" | "interrupt" | "enqueue") | null;
                    on_disconnect?: ("cancel" | "continue") | null;
                    on_completion?: ("delete" | "keep" | "complete" | "continue") | null;
                    if_not_exists?: ("reject" | "create") | null;
                    after_seconds?: number | null;
                    durability?: ("sync" | "async" | "exit") | null;
                    /** @description Deprecated: false means durability exit. */
                    checkpoint_during?: boolean | null;
                    /** @description Project and example for the run's trace. */
                    langsmith_tracer?: {
                        project_name?: string | null;
                        example_id?: string | null;
                    } | null;
                    webhook?: string | null;
                    /** @description Issues one feedback link per key, sent in the event `feedback` and in the result as `__feedback__`. */
                    feedback_keys?: string[] | null;
                    /** @description Rejects a `command.resume` that is an empty map, or a plain value unless exactly one interrupt is pending. */
                    strict_resume?: boolean | null;
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
                    "application/json": components["schemas"]["Run"][];
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
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    post_runs_cancel: {
        parameters: {
            query?: {
                action?: "interrupt" | "rollback";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    status: "pending" | "running" | "all";
                } | {
                    /** Format: uuid */
                    thread_id: string;
                    run_ids: string[];
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
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_runs_stream: {
        parameters: {
            query?: {
                namespace?: string | string[];
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Graph id or UUID of the assistant. */
                    assistant_id: string;
                    /** @description null or absent: continue from the thread's state. */
                    input?: unknown;
                    /** @description Resume, update or redirect instead of new input. */
                    command?: {
                        update?: ({
                            [key: string]: unknown;
                        } | [
                            string,
                            unknown
                        ][]) | null;
                        resume?: unknown;
                        goto?: (string | {
                            node: string;
                            input?: unknown;
                        } | (string | {
                            node: string;
                            input?: unknown;
                        })[]) | null;
                    } | null;
                    config?: ({
                        tags?: string[] | null;
                        run_name?: string | null;
                        recursion_limit?: number | null;
                        configurable?: {
                            [key: string]: unknown;
                        } | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    context?: unknown;
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                    checkpoint_id?: string | null;
                    checkpoint?: {
                        checkpoint_id?: string | null;
                        checkpoint_ns?: string | null;
                        checkpoint_map?: {
                            [key: string]: unknown;
                        } | null;
                    } | null;
                    interrupt_before?: ("*" | string[]) | null;
                    interrupt_after?: ("*" | string[]) | null;
                    stream_mode?: (("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools")[]) | null;
                    stream_subgraphs?: boolean | null;
                    stream_resumable?: boolean | null;
                    multitask_strategy?: ("reject" | "rollback" | "interrupt" | "enqueue") | null;
                    on_disconnect?: ("cancel" | "continue") | null;
                    on_completion?: ("delete" | "keep" | "complete" | "continue") | null;
                    if_not_exists?: ("reject" | "create") | null;
                    after_seconds?: number | null;
                    durability?: ("sync" | "async" | "exit") | null;
                    /** @description Deprecated: false means durability exit. */
                    checkpoint_during?: boolean | null;
                    /** @description Project and example for the run's trace. */
                    langsmith_tracer?: {
                        project_name?: string | null;
                        example_id?: string | null;
                    } | null;
                    webhook?: string | null;
                    /** @description Issues one feedback link per key, sent in the event `feedback` and in the result as `__feedback__`. */
                    feedback_keys?: string[] | null;
                    /** @description Rejects a `command.resume` that is an empty map, or a plain value unless exactly one interrupt is pending. */
                    strict_resume?: boolean | null;
                };
            };
        };
        responses: {
            /** @description Server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            410: components["responses"]["Error410"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    post_runs_wait: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Graph id or UUID of the assistant. */
                    assistant_id: string;
                    /** @description null or absent: continue from the thread's state. */
                    input?: unknown;
                    /** @description Resume, update or redirect instead of new input. */
                    command?: {
                        update?: ({
                            [key: string]: unknown;
                        } | [
                            string,
                            unknown
                        ][]) | null;
                        resume?: unknown;
                        goto?: (string | {
                            node: string;
                            input?: unknown;
                        } | (string | {
                            node: string;
                            input?: unknown;
                        })[]) | null;
                    } | null;
                    config?: ({
                        tags?: string[] | null;
                        run_name?: string | null;
                        recursion_limit?: number | null;
                        configurable?: {
                            [key: string]: unknown;
                        } | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    context?: unknown;
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                    checkpoint_id?: string | null;
                    checkpoint?: {
                        checkpoint_id?: string | null;
                        checkpoint_ns?: string | null;
                        checkpoint_map?: {
                            [key: string]: unknown;
                        } | null;
                    } | null;
                    interrupt_before?: ("*" | string[]) | null;
                    interrupt_after?: ("*" | string[]) | null;
                    stream_mode?: (("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools")[]) | null;
                    stream_subgraphs?: boolean | null;
                    stream_resumable?: boolean | null;
                    multitask_strategy?: ("reject" | "rollback" | "interrupt" | "enqueue") | null;
                    on_disconnect?: ("cancel" | "continue") | null;
                    on_completion?: ("delete" | "keep" | "complete" | "continue") | null;
                    if_not_exists?: ("reject" | "create") | null;
                    after_seconds?: number | null;
                    durability?: ("sync" | "async" | "exit") | null;
                    /** @description Deprecated: false means durability exit. */
                    checkpoint_during?: boolean | null;
                    /** @description Project and example for the run's trace. */
                    langsmith_tracer?: {
                        project_name?: string | null;
                        example_id?: string | null;
                    } | null;
                    webhook?: string | null;
                    /** @description Issues one feedback link per key, sent in the event `feedback` and in the result as `__feedback__`. */
                    feedback_keys?: string[] | null;
                    /** @description Rejects a `command.resume` that is an empty map, or a plain value unless exactly one interrupt is pending. */
                    strict_resume?: boolean | null;
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
                    "application/json": unknown;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            410: components["responses"]["Error410"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    post_runs: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Graph id or UUID of the assistant. */
                    assistant_id: string;
                    /** @description null or absent: continue from the thread's state. */
                    input?: unknown;
                    /** @description Resume, update or redirect instead of new input. */
                    command?: {
                        update?: ({
                            [key: string]: unknown;
                        } | [
                            string,
                            unknown
                        ][]) | null;
                        resume?: unknown;
                        goto?: (string | {
                            node: string;
                            input?: unknown;
                        } | (string | {
                            node: string;
                            input?: unknown;
                        })[]) | null;
                    } | null;
                    config?: ({
                        tags?: string[] | null;
                        run_name?: string | null;
                        recursion_limit?: number | null;
                        configurable?: {
                            [key: string]: unknown;
                        } | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    context?: unknown;
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                    checkpoint_id?: string | null;
                    checkpoint?: {
                        checkpoint_id?: string | null;
                        checkpoint_ns?: string | null;
                        checkpoint_map?: {
                            [key: string]: unknown;
                        } | null;
                    } | null;
                    interrupt_before?: ("*" | string[]) | null;
                    interrupt_after?: ("*" | string[]) | null;
                    stream_mode?: (("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools")[]) | null;
                    stream_subgraphs?: boolean | null;
                    stream_resumable?: boolean | null;
                    multitask_strategy?: ("reject" | "rollback" | "interrupt" | "enqueue") | null;
                    on_disconnect?: ("cancel" | "continue") | null;
                    on_completion?: ("delete" | "keep" | "complete" | "continue") | null;
                    if_not_exists?: ("reject" | "create") | null;
                    after_seconds?: number | null;
                    durability?: ("sync" | "async" | "exit") | null;
                    /** @description Deprecated: false means durability exit. */
                    checkpoint_during?: boolean | null;
                    /** @description Project and example for the run's trace. */
                    langsmith_tracer?: {
                        project_name?: string | null;
                        example_id?: string | null;
                    } | null;
                    webhook?: string | null;
                    /** @description Issues one feedback link per key, sent in the event `feedback` and in the result as `__feedback__`. */
                    feedback_keys?: string[] | null;
                    /** @description Rejects a `command.resume` that is an empty map, or a plain value unless exactly one interrupt is pending. */
                    strict_resume?: boolean | null;
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
                    "application/json": components["schemas"]["Run"];
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
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    get_runs_run_id_stream: {
        parameters: {
            query?: {
                cancel_on_disconnect?: string;
                namespace?: string | string[];
                checkpoint_id?: string;
                stream_mode?: string | string[];
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
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
    get_runs_run_id_join: {
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
                    "application/json": unknown;
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
    post_threads_thread_id_runs_stream: {
        parameters: {
            query?: {
                namespace?: string | string[];
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Graph id or UUID of the assistant. */
                    assistant_id: string;
                    /** @description null or absent: continue from the thread's state. */
                    input?: unknown;
                    /** @description Resume, update or redirect instead of new input. */
                    command?: {
                        update?: ({
                            [key: string]: unknown;
                        } | [
                            string,
                            unknown
                        ][]) | null;
                        resume?: unknown;
                        goto?: (string | {
                            node: string;
                            input?: unknown;
                        } | (string | {
                            node: string;
                            input?: unknown;
                        })[]) | null;
                    } | null;
                    config?: ({
                        tags?: string[] | null;
                        run_name?: string | null;
                        recursion_limit?: number | null;
                        configurable?: {
                            [key: string]: unknown;
                        } | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    context?: unknown;
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                    checkpoint_id?: string | null;
                    checkpoint?: {
                        checkpoint_id?: string | null;
                        checkpoint_ns?: string | null;
                        checkpoint_map?: {
                            [key: string]: unknown;
                        } | null;
                    } | null;
                    interrupt_before?: ("*" | string[]) | null;
                    interrupt_after?: ("*" | string[]) | null;
                    stream_mode?: (("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools")[]) | null;
                    stream_subgraphs?: boolean | null;
                    stream_resumable?: boolean | null;
                    multitask_strategy?: ("reject" | "rollback" | "interrupt" | "enqueue") | null;
                    on_disconnect?: ("cancel" | "continue") | null;
                    on_completion?: ("delete" | "keep" | "complete" | "continue") | null;
                    if_not_exists?: ("reject" | "create") | null;
                    after_seconds?: number | null;
                    durability?: ("sync" | "async" | "exit") | null;
                    /** @description Deprecated: false means durability exit. */
                    checkpoint_during?: boolean | null;
                    /** @description Project and example for the run's trace. */
                    langsmith_tracer?: {
                        project_name?: string | null;
                        example_id?: string | null;
                    } | null;
                    webhook?: string | null;
                    /** @description Issues one feedback link per key, sent in the event `feedback` and in the result as `__feedback__`. */
                    feedback_keys?: string[] | null;
                    /** @description Rejects a `command.resume` that is an empty map, or a plain value unless exactly one interrupt is pending. */
                    strict_resume?: boolean | null;
                };
            };
        };
        responses: {
            /** @description Server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            410: components["responses"]["Error410"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    post_threads_thread_id_runs_wait: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Graph id or UUID of the assistant. */
                    assistant_id: string;
                    /** @description null or absent: continue from the thread's state. */
                    input?: unknown;
                    /** @description Resume, update or redirect instead of new input. */
                    command?: {
                        update?: ({
                            [key: string]: unknown;
                        } | [
                            string,
                            unknown
                        ][]) | null;
                        resume?: unknown;
                        goto?: (string | {
                            node: string;
                            input?: unknown;
                        } | (string | {
                            node: string;
                            input?: unknown;
                        })[]) | null;
                    } | null;
                    config?: ({
                        tags?: string[] | null;
                        run_name?: string | null;
                        recursion_limit?: number | null;
                        configurable?: {
                            [key: string]: unknown;
                        } | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    context?: unknown;
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                    checkpoint_id?: string | null;
                    checkpoint?: {
                        checkpoint_id?: string | null;
                        checkpoint_ns?: string | null;
                        checkpoint_map?: {
                            [key: string]: unknown;
                        } | null;
                    } | null;
                    interrupt_before?: ("*" | string[]) | null;
                    interrupt_after?: ("*" | string[]) | null;
                    stream_mode?: (("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools")[]) | null;
                    stream_subgraphs?: boolean | null;
                    stream_resumable?: boolean | null;
                    multitask_strategy?: ("reject" | "rollback" | "interrupt" | "enqueue") | null;
                    on_disconnect?: ("cancel" | "continue") | null;
                    on_completion?: ("delete" | "keep" | "complete" | "continue") | null;
                    if_not_exists?: ("reject" | "create") | null;
                    after_seconds?: number | null;
                    durability?: ("sync" | "async" | "exit") | null;
                    /** @description Deprecated: false means durability exit. */
                    checkpoint_during?: boolean | null;
                    /** @description Project and example for the run's trace. */
                    langsmith_tracer?: {
                        project_name?: string | null;
                        example_id?: string | null;
                    } | null;
                    webhook?: string | null;
                    /** @description Issues one feedback link per key, sent in the event `feedback` and in the result as `__feedback__`. */
                    feedback_keys?: string[] | null;
                    /** @description Rejects a `command.resume` that is an empty map, or a plain value unless exactly one interrupt is pending. */
                    strict_resume?: boolean | null;
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
                    "application/json": unknown;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            410: components["responses"]["Error410"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    get_threads_thread_id_runs: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                status?: "pending" | "running" | "success" | "error" | "timeout" | "interrupted";
                metadata?: string;
                select?: string | string[];
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
                        /** Format: uuid */
                        run_id?: string;
                        /** Format: uuid */
                        thread_id?: string;
                        /** Format: uuid */
                        assistant_id?: string;
                        created_at?: string;
                        updated_at?: string;
                        /** @enum {string} */
                        status?: "pending" | "running" | "success" | "error" | "timeout" | "interrupted";
                        metadata?: {
                            [key: string]: unknown;
                        };
                        kwargs?: {
                            [key: string]: unknown;
                        };
                        /** @enum {string} */
                        multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
                        error?: ({
                            error: string;
                            message: string;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        cancel_reason?: string | null;
                        /** @description Ids of the interrupts that were pending on the thread and that the run's new input discards. */
                        discarded_interrupts?: string[] | null;
                        /** @description Why the run's stream lacks frames. Absent if no frames are known to be missing. */
                        stream_incomplete?: string;
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
    post_threads_thread_id_runs: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Graph id or UUID of the assistant. */
                    assistant_id: string;
                    /** @description null or absent: continue from the thread's state. */
                    input?: unknown;
                    /** @description Resume, update or redirect instead of new input. */
                    command?: {
                        update?: ({
                            [key: string]: unknown;
                        } | [
                            string,
                            unknown
                        ][]) | null;
                        resume?: unknown;
                        goto?: (string | {
                            node: string;
                            input?: unknown;
                        } | (string | {
                            node: string;
                            input?: unknown;
                        })[]) | null;
                    } | null;
                    config?: ({
                        tags?: string[] | null;
                        run_name?: string | null;
                        recursion_limit?: number | null;
                        configurable?: {
                            [key: string]: unknown;
                        } | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                    context?: unknown;
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                    checkpoint_id?: string | null;
                    checkpoint?: {
                        checkpoint_id?: string | null;
                        checkpoint_ns?: string | null;
                        checkpoint_map?: {
                            [key: string]: unknown;
                        } | null;
                    } | null;
                    interrupt_before?: ("*" | string[]) | null;
                    interrupt_after?: ("*" | string[]) | null;
                    stream_mode?: (("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "updates" | "events" | "tasks" | "checkpoints" | "debug" | "custom" | "tools")[]) | null;
                    stream_subgraphs?: boolean | null;
                    stream_resumable?: boolean | null;
                    multitask_strategy?: ("reject" | "rollback" | "interrupt" | "enqueue") | null;
                    on_disconnect?: ("cancel" | "continue") | null;
                    on_completion?: ("delete" | "keep" | "complete" | "continue") | null;
                    if_not_exists?: ("reject" | "create") | null;
                    after_seconds?: number | null;
                    durability?: ("sync" | "async" | "exit") | null;
                    /** @description Deprecated: false means durability exit. */
                    checkpoint_during?: boolean | null;
                    /** @description Project and example for the run's trace. */
                    langsmith_tracer?: {
                        project_name?: string | null;
                        example_id?: string | null;
                    } | null;
                    webhook?: string | null;
                    /** @description Issues one feedback link per key, sent in the event `feedback` and in the result as `__feedback__`. */
                    feedback_keys?: string[] | null;
                    /** @description Rejects a `command.resume` that is an empty map, or a plain value unless exactly one interrupt is pending. */
                    strict_resume?: boolean | null;
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
                    "application/json": components["schemas"]["Run"];
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
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    get_threads_thread_id_runs_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
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
                    "application/json": components["schemas"]["Run"];
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
    delete_threads_thread_id_runs_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                run_id: string;
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
    post_threads_thread_id_runs_run_id_cancel: {
        parameters: {
            query?: {
                wait?: string;
                action?: "interrupt" | "rollback";
                reason?: string;
            };
            header?: never;
            path: {
                thread_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
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
    get_threads_thread_id_runs_run_id_join: {
        parameters: {
            query?: {
                cancel_on_disconnect?: string;
            };
            header?: never;
            path: {
                thread_id: string;
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
                    "application/json": unknown;
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
    get_threads_thread_id_runs_run_id_stream: {
        parameters: {
            query?: {
                cancel_on_disconnect?: string;
                namespace?: string | string[];
                checkpoint_id?: string;
                stream_mode?: string | string[];
            };
            header?: never;
            path: {
                thread_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
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
    post_assistants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AssistantCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Assistant"];
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
    post_assistants_search: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AssistantSearch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        /** Format: uuid */
                        assistant_id?: string;
                        graph_id?: string;
                        name?: string;
                        description?: string | null;
                        config?: {
                            [key: string]: unknown;
                        } | null;
                        context?: unknown;
                        metadata?: {
                            [key: string]: unknown;
                        };
                        version?: number;
                        /** Format: date-time */
                        created_at?: string;
                        /** Format: date-time */
                        updated_at?: string;
                    } & {
                        [key: string]: unknown;
                    })[];
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
    post_assistants_count: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AssistantCount"];
            };
        };
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
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_assistants_assistant_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
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
                    "application/json": components["schemas"]["Assistant"];
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
    delete_assistants_assistant_id: {
        parameters: {
            query?: {
                delete_threads?: string;
            };
            header?: never;
            path: {
                assistant_id: string;
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
    patch_assistants_assistant_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AssistantPatch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Assistant"];
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
    get_assistants_assistant_id_graph: {
        parameters: {
            query?: {
                xray?: string;
            };
            header?: never;
            path: {
                assistant_id: string;
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
                        nodes: {
                            [key: string]: unknown;
                        }[];
                        edges: {
                            [key: string]: unknown;
                        }[];
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
    get_assistants_assistant_id_schemas: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
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
    get_assistants_assistant_id_subgraphs: {
        parameters: {
            query?: {
                recurse?: string;
            };
            header?: never;
            path: {
                assistant_id: string;
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
    get_assistants_assistant_id_subgraphs_namespace: {
        parameters: {
            query?: {
                recurse?: string;
            };
            header?: never;
            path: {
                assistant_id: string;
                namespace: string;
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
    post_assistants_assistant_id_versions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                    limit?: number | null;
                    offset?: number | null;
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
                    "application/json": components["schemas"]["AssistantVersion"][];
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
    post_assistants_assistant_id_latest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    version: number;
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
                    "application/json": components["schemas"]["Assistant"];
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
    post_threads: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Thread"];
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
    post_threads_search: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadSearch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        /** Format: uuid */
                        thread_id?: string;
                        /** Format: date-time */
                        created_at?: string;
                        /** Format: date-time */
                        updated_at?: string;
                        /** Format: date-time */
                        state_updated_at?: string;
                        metadata?: {
                            [key: string]: unknown;
                        };
                        /** @enum {string} */
                        status?: "idle" | "busy" | "interrupted" | "error";
                        config?: {
                            [key: string]: unknown;
                        };
                        values?: unknown;
                        interrupts?: {
                            [key: string]: unknown[];
                        };
                        error?: unknown;
                        ttl?: {
                            /** @enum {string} */
                            strategy: "delete" | "keep_latest";
                            /** @description Minutes since the last activity. */
                            ttl: number;
                            expires_at: string | null;
                        } | null;
                    } & {
                        [key: string]: unknown;
                    })[];
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
    post_threads_count: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadCount"];
            };
        };
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
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_threads_prune: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    thread_ids: string[];
                    strategy?: ("delete" | "keep_latest") | null;
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
                        pruned_count: number;
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
    get_threads_thread_id: {
        parameters: {
            query?: {
                include?: string | string[];
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
                    "application/json": components["schemas"]["Thread"];
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
    delete_threads_thread_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
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
    patch_threads_thread_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadPatch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Thread"];
                };
            };
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
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_threads_thread_id_copy: {
        parameters: {
            query?: never;
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
                    "application/json": components["schemas"]["Thread"];
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
    get_threads_thread_id_storage: {
        parameters: {
            query?: never;
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
                    "application/json": components["schemas"]["ThreadStorage"];
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
    get_threads_thread_id_state: {
        parameters: {
            query?: {
                subgraphs?: string;
                select?: string | string[];
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
                        values?: unknown;
                        next?: string[];
                        tasks?: {
                            [key: string]: unknown;
                        }[];
                        metadata?: {
                            [key: string]: unknown;
                        };
                        created_at?: string | null;
                        checkpoint?: components["schemas"]["Checkpoint"] | null;
                        parent_checkpoint?: components["schemas"]["Checkpoint"] | null;
                        checkpoint_id?: string | null;
                        parent_checkpoint_id?: string | null;
                        interrupts?: unknown[];
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
    post_threads_thread_id_state: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadStateUpdate"];
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
                        checkpoint: components["schemas"]["Checkpoint"];
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
    patch_threads_thread_id_state: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadPatch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Thread"];
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
    get_threads_thread_id_state_checkpoint_id: {
        parameters: {
            query?: {
                subgraphs?: string;
                select?: string | string[];
            };
            header?: never;
            path: {
                thread_id: string;
                checkpoint_id: string;
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
                        values?: unknown;
                        next?: string[];
                        tasks?: {
                            [key: string]: unknown;
                        }[];
                        metadata?: {
                            [key: string]: unknown;
                        };
                        created_at?: string | null;
                        checkpoint?: components["schemas"]["Checkpoint"] | null;
                        parent_checkpoint?: components["schemas"]["Checkpoint"] | null;
                        checkpoint_id?: string | null;
                        parent_checkpoint_id?: string | null;
                        interrupts?: unknown[];
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
    post_threads_thread_id_state_checkpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    checkpoint?: {
                        checkpoint_id?: string | null;
                        checkpoint_ns?: string | null;
                        checkpoint_map?: {
                            [key: string]: unknown;
                        } | null;
                    } | null;
                    subgraphs?: boolean | string | null;
                    select?: string[] | null;
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
                        values?: unknown;
                        next?: string[];
                        tasks?: {
                            [key: string]: unknown;
                        }[];
                        metadata?: {
                            [key: string]: unknown;
                        };
                        created_at?: string | null;
                        checkpoint?: components["schemas"]["Checkpoint"] | null;
                        parent_checkpoint?: components["schemas"]["Checkpoint"] | null;
                        checkpoint_id?: string | null;
                        parent_checkpoint_id?: string | null;
                        interrupts?: unknown[];
                    } & {
                        [key: string]: unknown;
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
    get_threads_thread_id_history: {
        parameters: {
            query?: {
                limit?: string;
                before?: string;
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
                    "application/json": components["schemas"]["ThreadState"][];
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
    post_threads_thread_id_history: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadStateSearch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadState"][];
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
    post_threads_thread_id_commands: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ProtocolCommand"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProtocolAnswer"];
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
    get_threads_thread_id_stream_events: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            426: components["responses"]["Error426"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_threads_thread_id_stream_events: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EventStreamRequest"];
            };
        };
        responses: {
            /** @description Server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
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
    get_threads_thread_id_stream: {
        parameters: {
            query?: {
                stream_mode?: string | string[];
                stream_modes?: string | string[];
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
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
    get_mcp: {
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
            405: components["responses"]["Error405"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_mcp: {
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
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JsonRpcAnswer"];
                };
            };
            /** @description Done; no content */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Success */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JsonRpcAnswer"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    delete_mcp: {
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
            404: components["responses"]["Error404"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_a2a_assistant_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JsonRpcAnswer"];
                    "text/event-stream": unknown;
                };
            };
            /** @description Success */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JsonRpcAnswer"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_well_known_agent_card_json: {
        parameters: {
            query?: {
                assistant_id?: string;
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
                    "application/json": components["schemas"]["AgentCard"];
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
    get_store_items: {
        parameters: {
            query: {
                namespace?: string | string[];
                key: string;
                refresh_ttl?: "0" | "1" | "true" | "false" | "True" | "False";
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
                    "application/json": components["schemas"]["Item"] | null;
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    put_store_items: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ItemPut"];
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
            431: components["responses"]["Error431"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    delete_store_items: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    namespace?: string[] | null;
                    key: string;
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
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_store_items_search: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ItemSearch"];
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
                        items: components["schemas"]["Item"][];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            502: components["responses"]["Error502"];
            503: components["responses"]["Error503"];
        };
    };
    post_store_namespaces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    prefix?: string[] | null;
                    suffix?: string[] | null;
                    max_depth?: number | null;
                    limit?: number | null;
                    offset?: number | null;
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
                        namespaces: string[][];
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
    get_webhooks_deliveries: {
        parameters: {
            query?: {
                run_id?: string;
                status?: "pending" | "delivered" | "failed";
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
                    "application/json": components["schemas"]["WebhookDelivery"][];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_webhooks_deliveries_delivery_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                delivery_id: string;
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
                    "application/json": components["schemas"]["WebhookDeliveryWithLog"];
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
    post_webhooks_deliveries_delivery_id_replay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
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
    get_queue: {
        parameters: {
            query?: {
                limit?: string;
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
                    "application/json": components["schemas"]["Queue"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_ok: {
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
                            database: {
                                ok: boolean;
                                reason?: string;
                                ms?: number;
                            } & {
                                [key: string]: unknown;
                            };
                            graph_hosts: {
                                ok: boolean;
                                reason?: string;
                                ready?: number;
                            } & {
                                [key: string]: unknown;
                            };
                            graphs: {
                                [key: string]: boolean;
                            };
                            claims: {
                                ok: boolean;
                                reason?: string;
                            } & {
                                [key: string]: unknown;
                            };
                            lease: {
                                ok: boolean;
                                reason?: string;
                            } & {
                                [key: string]: unknown;
                            };
                            disk: {
                                ok: boolean;
                                reason?: string;
                            } & {
                                [key: string]: unknown;
                            };
                        };
                    };
                };
            };
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            /** @description Success */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: false;
                        detail: string;
                        checks?: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
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
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    get_ready: {
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
    get_info: {
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
                        langgraph_js_version: string | null;
                        /** @constant */
                        context: "js";
                        flags: {
                            assistants: boolean;
                            crons: boolean;
                            webhooks: boolean;
                            langsmith: boolean;
                            langsmith_tracing_replicas: boolean;
                            stream_namespaces: boolean;
                        };
                        metadata: {
                            [key: string]: unknown;
                        };
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
